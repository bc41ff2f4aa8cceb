import { expect, test } from 'vitest';
import { FlowBuffer } from '../../../src/cli/chat/flow-buffer.ts';
import { line, type Piece } from '../../../src/cli/chat/piece.ts';

const flow = (text: string): Piece => ({ kind: 'flow', text });

test('streamed text passes as it comes while nothing is typed', () => {
  const buffer = new FlowBuffer();
  expect(buffer.take([flow('a'), flow('b')], false)).toEqual([flow('a'), flow('b')]);
  expect(buffer.flush()).toEqual([]);
});

test('while something is typed it comes by whole lines, and nothing is lost', () => {
  const buffer = new FlowBuffer();
  expect(buffer.take([flow('one')], true)).toEqual([]);
  expect(buffer.take([flow(' two\nthree')], true)).toEqual([flow('one two\n')]);
  expect(buffer.take([line('tool')], true)).toEqual([flow('three'), line('tool')]);
  expect(buffer.take([flow('four')], true)).toEqual([]);
  expect(buffer.take([flow(' five')], false)).toEqual([flow('four five')]);
  buffer.take([flow('six')], true);
  expect(buffer.flush()).toEqual([flow('six')]);
});
