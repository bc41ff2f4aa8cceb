import { expect, test } from 'vitest';
import { describeFlags, FLAGS } from '../../../src/agent/launch/flag-table.ts';

test('every flag has its line, with what becomes of it', () => {
  const [title, ...lines] = describeFlags().split('\n');
  expect(title).toBe('Flags:');
  expect(lines).toHaveLength(Object.keys(FLAGS).length);
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}--model +a text$/));
  expect(lines).toContainEqual(
    expect.stringMatching(/^ {2}-p +changes nothing: the agent is never interactive/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}--effort +one of low.*; has no effect: /));
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}--sdk-url +a text; refused: /));
});
