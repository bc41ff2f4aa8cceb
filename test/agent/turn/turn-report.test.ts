import { expect, test } from 'vitest';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { drive } from '../../support/drive.ts';
import { gate } from '../../support/gate.ts';

test('a result is sent while later calls run, and never before an earlier one', async () => {
  const second = gate<string>();
  const third = gate<string>();
  const annotations = { readOnlyHint: true };
  const desk = toolServer('desk')
    .tool('one', 'One', {}, () => 'first', { annotations })
    .tool('two', 'Two', {}, () => second.pass(), { annotations })
    .tool('three', 'Three', {}, () => third.pass(), { annotations });
  const calls = together(
    toolUse('mcp__desk__one', {}, 't1'),
    toolUse('mcp__desk__two', {}, 't2'),
    toolUse('mcp__desk__three', {}, 't3'),
  );
  const { query } = drive([calls, text('done')], { mcpServers: { desk } });
  const told: string[] = [];
  for await (const message of query) {
    if (message.type !== 'user') continue;
    const [block] = message.message.content as { tool_use_id: string }[];
    told.push(block?.tool_use_id ?? '');
    if (told.length > 1) continue;
    // The third is done before the second, and waits for it.
    await third.reached;
    third.open('third');
    await second.reached;
    second.open('second');
  }
  expect(told).toEqual(['t1', 't2', 't3']);
});
