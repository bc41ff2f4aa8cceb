import { expect, test } from 'vitest';
import { text, toolUse } from '../../src/host/model/scripted.ts';
import { collect } from '../world/collect.ts';
import { everything } from './connect/servers.ts';
import { deny, drive, results } from './drive.ts';

const READING = { builtIns: ['ListMcpResourcesTool', 'ReadMcpResourceTool'] };

test('resources of a real server are listed and read, without a question', async () => {
  const { query, model } = drive(
    [
      toolUse('ListMcpResourcesTool', {}, 'l'),
      toolUse('ReadMcpResourceTool', { server: 'every', uri: 'demo://resource/dynamic/text/1' }, 'r'),
      toolUse('ReadMcpResourceTool', { server: 'every', uri: 'nowhere://at/all' }, 'n'),
      toolUse('ReadMcpResourceTool', { server: 'evry', uri: 'x:y' }, 'u'),
      text('ok'),
    ],
    {},
    { ...READING, servers: { every: everything } },
  );
  await collect(query);
  const told = results(model.requests[4]);
  expect(told.l).toMatch(/"server":"every"/);
  expect(told.l).toContain('"uriTemplate":"demo://resource/dynamic/text/{resourceId}"');
  expect(told.r).toMatch(/^\[Resource from every at demo:\/\/resource\/dynamic\/text\/1\] Resource 1/);
  expect(told.n).toMatch(/^!/);
  expect(told.u).toBe("!There is no connected server 'evry'. Connected: every");
});

test('what a rule denies of a server as a whole is not read either', async () => {
  const { query, model } = drive(
    [
      toolUse('ListMcpResourcesTool', {}, 'l'),
      toolUse('ReadMcpResourceTool', { server: 'every', uri: 'demo://resource/dynamic/text/1' }, 'r'),
      text('ok'),
    ],
    {},
    { ...READING, servers: { every: everything }, rules: deny('mcp__every') },
  );
  await collect(query);
  expect(results(model.requests[2])).toEqual({
    l: 'No resources were found.',
    r: "!There is no connected server 'every'. Connected: (none)",
  });
});
