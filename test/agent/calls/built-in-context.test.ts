import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../src/agent/session/session.ts';
import type { CanUseTool } from '../../../src/sdk/options/options.ts';
import { everything } from '../../mcp/support/servers.ts';
import { collect } from '../../support/collect.ts';
import { allow, asks, deny, drive, results } from '../../support/drive.ts';

const READING = { builtIns: ['ListMcpResourcesTool', 'ReadMcpResourceTool'] };

test('lists and reads resources of a trusted server without a permission prompt', async () => {
  const { query, model } = drive(
    [
      toolUse('ListMcpResourcesTool', {}, 'l'),
      toolUse('ReadMcpResourceTool', { server: 'every', uri: 'demo://resource/dynamic/text/1' }, 'r'),
      toolUse('ReadMcpResourceTool', { server: 'every', uri: 'nowhere://at/all' }, 'n'),
      toolUse('ReadMcpResourceTool', { server: 'evry', uri: 'x:y' }, 'u'),
      text('ok'),
    ],
    {},
    { ...READING, servers: { every: { ...everything, trust: true } } },
  );
  await collect(query);
  const told = results(model.requests[4]);
  expect(told.l).toMatch(/"server":"every"/);
  expect(told.l).toContain('"uriTemplate":"demo://resource/dynamic/text/{resourceId}"');
  expect(told.r).toMatch(/^\[Resource from every at demo:\/\/resource\/dynamic\/text\/1\] Resource 1/);
  expect(told.n).toMatch(/^!/);
  expect(told.u).toBe("!There is no connected server 'evry'. Connected: every");
});

test('a deny rule for a whole server covers its resources', async () => {
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

const FIXTURE = fileURLToPath(new URL('../../support/fixtures/resource-server.mjs', import.meta.url));
const READ = (uri: string, id: string) => toolUse('ReadMcpResourceTool', { server: 's', uri }, id);
const server = (...args: string[]) => ({
  type: 'stdio' as const,
  command: process.execPath,
  args: [FIXTURE, ...args],
});

/** Reads a listed and an unlisted resource; returns the results and the permission requests. */
async function reading(more: Partial<SessionOptions>, answer?: CanUseTool) {
  const asked: (string | undefined)[] = [];
  const suggested: unknown[] = [];
  const canUseTool: CanUseTool = async (...args) => {
    asked.push(args[2].decisionReason);
    suggested.push(args[2].suggestions);
    return answer?.(...args) ?? { behavior: 'deny', message: 'no' };
  };
  const { query, model } = drive(
    [READ('x://listed', 'l'), READ('x://secret', 's'), text('ok')],
    { canUseTool },
    { ...READING, servers: { s: server() }, ...more },
  );
  await collect(query);
  return { told: results(model.requests.at(-1)), asked, suggested };
}

const LISTED = '[Resource from s at x://listed] it got x://listed';
const SECRET = '[Resource from s at x://secret] it got x://secret';
const DOUBT = 'x://secret is not listed by server "s", which is not trusted';

test('reads listed resources without a prompt and asks about other URIs', async () => {
  const { told, asked, suggested } = await reading({});
  expect(told).toEqual({ l: LISTED, s: '!no' });
  expect(asked).toEqual([DOUBT]);
  expect(suggested).toEqual([
    [
      {
        type: 'addRules',
        rules: [{ toolName: 'ReadMcpResourceTool', ruleContent: 'x://secret' }],
        behavior: 'allow',
        destination: 'session',
      },
    ],
  ]);
});

test.each<[string, Partial<SessionOptions>, string]>([
  ['mode plan denies it', { permissionMode: 'plan' }, `!mode plan runs only read-only tools: ${DOUBT}`],
  [
    'mode dontAsk denies it',
    { permissionMode: 'dontAsk' },
    `!mode dontAsk denies calls that require approval: ${DOUBT}`,
  ],
  ['a rule allows it', { rules: allow('ReadMcpResourceTool(x://s*)') }, SECRET],
  ['the server is trusted', { servers: { s: { ...server(), trust: true } } }, SECRET],
  [
    'mode bypassPermissions asks no question',
    { permissionMode: 'bypassPermissions', mayBypass: true },
    SECRET,
  ],
])('a URI that is not listed: %s', async (_, more, expected) => {
  const { told, asked } = await reading(more);
  expect(told).toEqual({ l: LISTED, s: expected });
  expect(asked).toEqual([]);
});

test('an ask rule for a whole server covers its resources', async () => {
  const trusted = { ...server(), trust: true };
  const byRule = await reading({ servers: { s: trusted }, rules: asks('mcp__s') });
  expect(byRule.told).toEqual({ l: '!no', s: '!no' });
  const tools = [{ name: '*', permission_policy: 'always_ask' }];
  const servers = { s: { ...trusted, tools } } as NonNullable<SessionOptions['servers']>;
  const byPolicy = await reading({ servers, permissionMode: 'bypassPermissions', mayBypass: true });
  expect(byPolicy.told).toEqual({ l: '!no', s: '!no' });
  expect(byPolicy.asked).toEqual([
    'ask rule "mcp__s__*" of serverPolicy',
    'ask rule "mcp__s__*" of serverPolicy',
  ]);
});

test("a policy of the server's entry that denies all tools covers its resources", async () => {
  const tools = [{ name: '*', permission_policy: 'always_deny' }];
  const { query, model } = drive(
    [toolUse('ListMcpResourcesTool', {}, 'l'), READ('x://listed', 'r'), text('ok')],
    {},
    { ...READING, servers: { s: { ...server(), tools } } as NonNullable<SessionOptions['servers']> },
  );
  await collect(query);
  expect(results(model.requests.at(-1))).toEqual({
    l: 'No resources were found.',
    r: "!There is no connected server 's'. Connected: (none)",
  });
});

test.each([{}, { updatedInput: { server: 's', uri: 'x://secret' } }])(
  'an approved read is not sent to another server that took over the key',
  async (more) => {
    const { query, model } = drive(
      [READ('x://secret', 's'), text('ok')],
      {
        canUseTool: async () => {
          await query.setMcpServers({ s: server('another') });
          return { behavior: 'allow', ...more };
        },
      },
      { ...READING, servers: { s: server() } },
    );
    await collect(query);
    expect(results(model.requests.at(-1)).s).toBe(
      '!MCP server "s": the server was replaced after permission for this call was decided; repeat the call',
    );
  },
);
