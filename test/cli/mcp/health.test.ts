import { expect, test } from 'vitest';
import { type Health, healthOf, isFailing, rowsOf } from '../../../src/cli/mcp/health.ts';
import { emptyText, listPieces } from '../../../src/cli/mcp/list.ts';
import { render } from '../../../src/cli/terminal/render.ts';

import { readConfiguration } from '../../../src/config/configuration.ts';
import { serverRecord } from '../../../src/config/explain/server-record.ts';
import type { ConfiguredServer, Source, Verdict, WrittenServer } from '../../../src/config/model.ts';
import type { ServerStatus } from '../../../src/mcp/servers/server-status.ts';
import { configPlace } from '../../config/config-place.ts';

const written = (name: string, scope: WrittenServer['scope'] = 'user'): WrittenServer => ({
  name,
  scope,
  label: `~/${scope}.json`,
  position: { line: 2, column: 3 },
  raw: { command: 'x' },
});

const server = (verdict: Verdict, name = 'gh'): ConfiguredServer => ({
  name,
  written: written(name),
  verdict,
  settled: [],
  lost: [],
});

const status = (more: Partial<ServerStatus>): ServerStatus => ({
  state: 'connected',
  since: 0,
  attempt: 1,
  stderr: [],
  ...more,
});

const emptyConfiguration = () => readConfiguration(configPlace().world());

async function health(it: ConfiguredServer, dialled?: ServerStatus): Promise<Health> {
  const merged = { servers: [it], lost: [], faults: [] };
  const observed = dialled ? { status: dialled } : {};
  return healthOf(serverRecord({ ...(await emptyConfiguration()), merged }, it.name, observed));
}

const FAULT = { level: 'error', scope: 'user', label: 'f.json', message: 'it is wrong' } as const;

test.each<[Verdict, ServerStatus | undefined, string, string, boolean]>([
  [{ kind: 'ready' }, status({ tools: 1 }), 'connected', 'connected (1 tool)', false],
  [{ kind: 'ready' }, status({ tools: 12 }), 'connected', 'connected (12 tools)', false],
  [{ kind: 'ready' }, undefined, 'ready', 'ready', false],
  [
    { kind: 'ready' },
    status({
      state: 'failed',
      cause: { code: 'timeout', message: 'MCP server "gh": too late', detail: 'too late' },
    }),
    'failed',
    'failed: too late',
    true,
  ],
  [
    { kind: 'pending', choice: 'new' },
    undefined,
    'pending',
    'pending approval: toolplane mcp approve gh',
    false,
  ],
  [
    { kind: 'pending', choice: 'changed' },
    undefined,
    'pending',
    'changed since you approved it: toolplane mcp approve gh',
    false,
  ],
  [{ kind: 'rejected' }, undefined, 'rejected', 'rejected; to undo: toolplane mcp approve gh', false],
  [{ kind: 'disabled', label: 's.json' }, undefined, 'disabled', 'disabled in s.json', false],
  [{ kind: 'blocked', rule: 'a rule' }, undefined, 'blocked', 'blocked: a rule forbids it', true],
  [{ kind: 'broken', fault: FAULT }, undefined, 'broken', 'broken: f.json: it is wrong', true],
])('%j has a status text', async (verdict, dialled, state, text, trouble) => {
  const shown = await health(server(verdict), dialled);
  expect(shown).toMatchObject({ state, text });
  expect(isFailing(shown)).toBe(trouble);
});

test('a server with an unresolved reference is failed, unless a verdict keeps it from being started', async () => {
  const configuration = await emptyConfiguration();
  const entry = { command: 'x', env: { X: '${secret:tok}' } };
  const lookup = { variable: () => undefined, secret: () => undefined };
  const unresolved = (verdict: Verdict) => {
    const merged = { servers: [{ ...server(verdict), entry }], lost: [], faults: [] };
    return healthOf(serverRecord({ ...configuration, merged }, 'gh', { lookup }));
  };
  expect(unresolved({ kind: 'ready' })).toEqual({
    state: 'failed',
    text: expect.stringMatching(/^cannot be started: .*tok/),
  });
  expect(unresolved({ kind: 'rejected' }).state).toBe('rejected');
});

test.each<[string, Source['state'][], RegExp]>([
  ['there is no managed file', ['absent'], /^No servers are configured\. Add one: /],
  [
    'a managed file names none',
    ['read'],
    /^No servers are active: only servers in \/m0 are allowed, and it lists none\./,
  ],
  [
    'none can be read',
    ['absent', 'unusable'],
    /^No servers are active: only servers in \/m1 are allowed, and it cannot be read\./,
  ],
])('where %s, an empty list says so', (_, states, text) => {
  const sources = states.map(
    (state, at): Source => ({ scope: 'managed', label: `/m${at}`, state, servers: [], faults: [] }),
  );
  const pieces = listPieces([], emptyText({ sources }));
  expect(pieces.map((piece) => render(piece, { columns: 20, hasColors: false }))).toEqual([
    expect.stringMatching(text),
  ]);
});

test('a name that a shell would take for more is quoted where it is to be typed', async () => {
  expect((await health(server({ kind: 'pending', choice: 'new' }, 'a; rm -rf ~'))).text).toBe(
    "pending approval: toolplane mcp approve 'a; rm -rf ~'",
  );
});

test('the list is one line a server, those that wait for a name beside the one that has it', async () => {
  const winner = server({ kind: 'ready' }, 'both');
  const lost = { written: written('both', 'project'), why: 'pending', winner: winner.written } as const;
  const merged = {
    servers: [{ ...winner, lost: [lost] }, server({ kind: 'blocked', rule: 'r' }, 'zed\u001b[31m')],
    lost: [{ written: written('all', 'project'), why: 'rejected' } as const],
    faults: [],
  };
  const rows = rowsOf({ ...(await emptyConfiguration()), merged }, { both: status({ tools: 2 }) });
  const look = { columns: 20, hasColors: false };
  expect(listPieces(rows, '').map((piece) => render(piece, look))).toEqual([
    '⏸ all       project  ~/project.json  rejected; to undo: toolplane mcp approve all',
    '✓ both      user     ~/user.json     connected (2 tools)',
    '⏸ both      project  ~/project.json  pending approval: toolplane mcp approve both (until then, the entry in user, ~/user.json:2:3 is active)',
    '✗ zed␛[31m  user     ~/user.json     blocked: r forbids it',
  ]);
});

test('the color of a mark is that of the state', async () => {
  const merged = { servers: [server({ kind: 'ready' })], lost: [], faults: [] };
  const [piece] = listPieces(
    rowsOf({ ...(await emptyConfiguration()), merged }, { gh: status({ tools: 0 }) }),
    '',
  );
  expect(piece && render(piece, { columns: 80, hasColors: true })).toContain('\u001b[32m✓\u001b[39m gh');
});
