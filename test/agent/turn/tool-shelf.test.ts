import { expect, test } from 'vitest';
import { calledTools, ToolShelf } from '../../../src/agent/turn/tool-shelf.ts';
import { pool } from '../../pool/pool-of.ts';

const names = (told: readonly { readonly name: string }[]) => told.map(({ name }) => name);
const SOME = { s: ['a', 'b', 'z'] };

test('what was loaded stays last and searchable, however often it is told', () => {
  const shelf = new ToolShelf(0);
  const all = pool(['ToolSearch'], SOME);
  shelf.load(['mcp__s__z']);
  shelf.tell(all);
  shelf.load(['mcp__s__a']);
  shelf.tell(all);
  shelf.load(['mcp__s__b']);
  const { told, searchable } = shelf.tell(all);
  expect(names(told)).toEqual(['ToolSearch', 'mcp__s__z', 'mcp__s__a', 'mcp__s__b']);
  expect(names(searchable)).toEqual(['mcp__s__a', 'mcp__s__b', 'mcp__s__z']);
});

test('what was only looked at is not told yet', () => {
  const shelf = new ToolShelf(60);
  const few = pool(['ToolSearch'], { s: ['a'] });
  expect(names(shelf.divide(few).told)).toContain('mcp__s__a');
  expect(names(shelf.divide(pool(['ToolSearch'], SOME)).told)).toEqual(['ToolSearch']);
  shelf.tell(few);
  expect(names(shelf.divide(pool(['ToolSearch'], SOME)).told)).toEqual(['ToolSearch', 'mcp__s__a']);
});

test('of the same pool the same value is given until something is loaded', () => {
  const shelf = new ToolShelf(0);
  const all = pool(['ToolSearch'], SOME);
  const before = shelf.tell(all);
  expect(shelf.tell(all)).toBe(before);
  shelf.load(['mcp__s__a']);
  expect(shelf.tell(all)).not.toBe(before);
});

test('a conversation that is gone on with knows what it called', () => {
  expect(
    calledTools([
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'mcp__s__a', input: {} }] },
    ] as never),
  ).toEqual(['mcp__s__a']);
});
