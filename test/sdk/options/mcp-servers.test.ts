import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SdkError } from '../../../src/protocol/sdk-error.ts';
import { moduleServer } from '../../../src/sdk/module-server.ts';
import {
  describeServers,
  prepareServersForCli,
  sdkServerSettings,
  splitServers,
} from '../../../src/sdk/options/mcp-servers.ts';
import type { McpServerConfig } from '../../../src/sdk/options/options.ts';
import { attach, createSdkMcpServer, type SdkServerEntry } from '../../../src/tool-server/sdk-server.ts';
import { entryOf } from '../support/fake-deps.ts';

const calc = createSdkMcpServer({ name: 'my-tools', version: '2.0.0', timeout: 7 });
const state = attach(calc, { assigns: { secret: 'hush' } });
const bare = createSdkMcpServer({ name: 'bare' });
const foreign: SdkServerEntry = {
  type: 'sdk',
  name: 'f',
  instance: { connect: async () => {}, close: async () => {} },
};
const stdio = { command: 'node', args: ['server.mjs'], env: { A: 'b' } };
const web = { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { 'X-A': 'b' } } as const;
const ON_ARGV = { sdkServersOnArgv: true };
const NOT_ON_ARGV = { sdkServersOnArgv: false };

test('splits in-process servers from those of the agent (R11, R36, R39, R41)', () => {
  expect(splitServers({ calc, st: stdio, again: state, web })).toEqual({
    sdk: new Map<string, unknown>([
      ['calc', calc],
      ['again', state],
    ]),
    external: { st: stdio, web },
  });
});

test.each([undefined, {}])('%j contains no servers (R40)', (servers) => {
  expect(splitServers(servers)).toEqual({ sdk: new Map(), external: {} });
});

test('a module server is an external server; all three kinds can be combined (R12, R37)', () => {
  const module = moduleServer('/tools.ts');
  const split = splitServers({ here: calc, module, out: stdio });
  expect([[...split.sdk.keys()], split.external]).toEqual([['here'], { module, out: stdio }]);
});

test.each<[string, Record<string, McpServerConfig>, Record<string, object> | undefined]>([
  ['nothing (R28)', {}, undefined],
  ['in-process servers alone go by initialize only (C28)', { calc }, undefined],
  ['external ones as given (R10, R31)', { st: stdio, web }, { st: stdio, web }],
  ['mixed: only the external ones (R32)', { calc, st: stdio }, { st: stdio }],
])('the command line: %s', (_, servers, prepared) => {
  expect(prepareServersForCli(splitServers(servers), NOT_ON_ARGV)).toEqual(prepared);
});

test('on request in-process servers are included by key and version only (R30, R35, C28)', () => {
  const split = splitServers({ calc, state, bare, foreign, st: stdio });
  expect(prepareServersForCli(split, ON_ARGV)).toEqual({
    st: stdio,
    calc: { type: 'sdk', name: 'calc', version: '2.0.0' },
    state: { type: 'sdk', name: 'state', version: '2.0.0' },
    bare: { type: 'sdk', name: 'bare', version: '1.0.0' },
    foreign: { type: 'sdk', name: 'foreign', version: '1.0.0' },
  });
});

test('for a running agent: external servers first, then in-process ones with their agent-enforced settings', () => {
  const policy = { ...state, tools: [{ name: 't', permission_policy: 'always_deny' as const }] };
  expect(JSON.stringify(describeServers(splitServers({ bare, policy, st: stdio })))).toBe(
    JSON.stringify({
      st: stdio,
      bare: { type: 'sdk', name: 'bare' },
      policy: {
        type: 'sdk',
        name: 'policy',
        timeout: 7,
        tools: [{ name: 't', permission_policy: 'always_deny' }],
      },
    }),
  );
});

test('the tools of a Toolplane server are not a policy', () => {
  expect([calc, bare, state].map((it) => sdkServerSettings(entryOf(it)))).toEqual([
    { timeout: 7 },
    {},
    { timeout: 7 },
  ]);
});

test('neither the instance nor the application state is ever written (R30)', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.stringMatching(/^[a-z]{1,4}$/),
        fc.constantFrom<McpServerConfig>(calc, state, foreign, stdio, web),
      ),
      fc.boolean(),
      (servers, sdkServersOnArgv) => {
        const split = splitServers(servers);
        const written = JSON.stringify([
          prepareServersForCli(split, { sdkServersOnArgv }),
          describeServers(split),
        ]);
        expect(written).not.toMatch(/instance|assigns|hush/);
      },
    ),
  );
});

test.each<[string, unknown, string]>([
  ['null', { x: null }, 'mcpServers["x"]: the entry must be an object'],
  ['a text', { x: 'node' }, 'mcpServers["x"]: the entry must be an object'],
  ['an unknown type', { x: { type: 'silly' } }, 'mcpServers["x"]: unknown type "silly"'],
  ['no command', { x: {} }, 'mcpServers["x"]: a stdio server needs "command"'],
  ['no url', { x: { type: 'sse' } }, 'mcpServers["x"]: an sse server needs "url"'],
  ['no instance', { x: { type: 'sdk', name: 'x' } }, 'mcpServers["x"]: an sdk server needs "instance"'],
  [
    'an instance that is none',
    { x: { type: 'sdk', name: 'x', instance: {} } },
    'mcpServers["x"]: an sdk server needs "instance"',
  ],
  ['an empty key', { '': calc }, 'mcpServers has an entry named ""'],
  [
    'a key no object can hold',
    JSON.parse('{"__proto__":{"command":"x"}}'),
    'mcpServers has an entry named "__proto__"',
  ],
  [
    'two keys that normalize to the same name',
    { 'my server': calc, 'my.server': bare },
    'mcpServers: "my server" and "my.server" both normalize to "my_server"',
  ],
])('%s is rejected by name (R27)', (_, servers, message) => {
  const split = () => splitServers(servers as Record<string, McpServerConfig>);
  expect(split).toThrow(SdkError);
  expect(split).toThrow(
    expect.objectContaining({ code: 'bad-server', message: expect.stringContaining(message) }),
  );
});
