import { expect, test } from 'vitest';
import { describeFlags, FLAGS } from '../../../src/agent/launch/flag-table.ts';

test('the help lists every flag with its effect', () => {
  const [title, ...lines] = describeFlags().split('\n');
  expect(title).toBe('Flags:');
  expect(lines).toHaveLength(Object.keys(FLAGS).length);
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}--model +a string$/));
  expect(lines).toContainEqual(
    expect.stringMatching(/^ {2}-p +accepted, no effect: the agent is never interactive/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}--task-budget +an integer.*; ignored: /));
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}--sdk-url +a string; not supported: /));
});
