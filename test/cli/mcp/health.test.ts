import { expect, test } from 'vitest';
import { healthOf, isTrouble, rowsOf } from '../../../src/cli/mcp/health.ts';
import { emptyText, listPieces } from '../../../src/cli/mcp/list.ts';
import { render } from '../../../src/cli/terminal/render.ts';

import { NO_CHOICES } from '../../../src/config/approval/approval-store.ts';
import { type Choices, choicesOf } from '../../../src/config/approval/approvals.ts';
import type { ConfiguredServer, Source, Verdict, WrittenServer } from '../../../src/config/model.ts';
import type { ServerStatus } from '../../../src/mcp/servers/server-status.ts';

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

/** Those of a person who has decided nothing. */
const CHOICES: Choices = choicesOf(NO_CHOICES);

const NOTHING_MISSING = () => [];

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
  [{ kind: 'rejected' }, undefined, 'rejected', 'rejected; to undo that: toolplane mcp approve gh', false],
  [{ kind: 'disabled', label: 's.json' }, undefined, 'disabled', 'disabled in s.json', false],
  [{ kind: 'blocked', rule: 'a rule' }, undefined, 'blocked', 'blocked by a rule', true],
  [{ kind: 'broken', fault: FAULT }, undefined, 'broken', 'broken: f.json: it is wrong', true],
])('%j is told', (verdict, dialled, state, text, trouble) => {
  const health = healthOf(server(verdict), dialled, NOTHING_MISSING);
  expect(health).toMatchObject({ state, text });
  expect(isTrouble(health)).toBe(trouble);
});

test('what refers to something that is not there is not ready, whether it is dialled or not', () => {
  const unmet = () => ['there is no secret tok', 'the variable X is not set'];
  const health = healthOf(server({ kind: 'ready' }), undefined, unmet);
  expect(health).toEqual({
    state: 'failed',
    text: 'cannot be started: there is no secret tok; the variable X is not set',
  });
  expect(healthOf(server({ kind: 'rejected' }), undefined, unmet).state).toBe('rejected');
  expect(healthOf(server({ kind: 'ready' }), status({ tools: 1 }), unmet).state).toBe('connected');
});

test.each<[string, Source['state'][], RegExp]>([
  ['there is no managed file', ['absent'], /^No servers are configured\. Add one: /],
  ['a managed file names none', ['read'], /^No server counts: .* only those of \/m0 do, and it names none\./],
  ['none can be read', ['absent', 'unusable'], /^No server counts: .* of \/m1 do, and it cannot be read\./],
])('where %s, an empty list says so', (_, states, text) => {
  const sources = states.map(
    (state, at): Source => ({ scope: 'managed', label: `/m${at}`, state, servers: [], faults: [] }),
  );
  const pieces = listPieces([], emptyText({ sources }));
  expect(pieces.map((piece) => render(piece, { columns: 20, colours: false }))).toEqual([
    expect.stringMatching(text),
  ]);
});

test('a name that a shell would take for more is quoted where it is to be typed', () => {
  expect(
    healthOf(server({ kind: 'pending', choice: 'new' }, 'a; rm -rf ~'), undefined, NOTHING_MISSING).text,
  ).toBe("pending approval: toolplane mcp approve 'a; rm -rf ~'");
});

test('the list is one line a server, those that wait for a name beside the one that has it', () => {
  const winner = server({ kind: 'ready' }, 'both');
  const lost = { written: written('both', 'project'), why: 'pending', winner: winner.written } as const;
  const merged = {
    servers: [{ ...winner, lost: [lost] }, server({ kind: 'blocked', rule: 'r' }, 'zed\u001b[31m')],
    lost: [{ written: written('all', 'project'), why: 'rejected' } as const],
    faults: [],
  };
  const rows = rowsOf({ merged, choices: CHOICES }, { both: status({ tools: 2 }) }, NOTHING_MISSING);
  const look = { columns: 20, colours: false };
  expect(listPieces(rows, '').map((piece) => render(piece, look))).toEqual([
    '⏸ all       project  ~/project.json  rejected; to undo that: toolplane mcp approve all',
    '✓ both      user     ~/user.json     connected (2 tools)',
    '⏸ both      project  ~/project.json  pending approval: toolplane mcp approve both (meanwhile the one of user, ~/user.json:2:3 counts)',
    '✗ zed␛[31m  user     ~/user.json     blocked by r',
  ]);
});

test('colours are those of the states', () => {
  const [piece] = listPieces(
    rowsOf(
      {
        merged: { servers: [server({ kind: 'ready' })], lost: [], faults: [] },
        choices: CHOICES,
      },
      { gh: status({ tools: 0 }) },
      NOTHING_MISSING,
    ),
    '',
  );
  expect(piece && render(piece, { columns: 80, colours: true })).toContain('\u001b[32m✓\u001b[39m gh');
});
