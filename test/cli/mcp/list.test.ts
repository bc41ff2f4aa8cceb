import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { statusDocument } from '../../../src/cli/mcp/entries.ts';
import { emptyText, listPieces } from '../../../src/cli/mcp/list.ts';
import { render } from '../../../src/cli/terminal/render.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import {
  isFailing,
  listedRecords,
  type ServerRecord,
  serverRecord,
} from '../../../src/config/explain/server-record.ts';
import type { ConfiguredServer, Source, Verdict, WrittenServer } from '../../../src/config/model.ts';
import type { ServerStatus } from '../../../src/mcp/servers/server-status.ts';
import { configPlace } from '../../config/config-place.ts';
import { CLI } from '../../support/setup/built-package.ts';
import { localFile, marker, mcpPlace, mcpTerminal, projectFile, userFile } from '../support/mcp-place.ts';
import { BROKEN } from '../support/real-servers.ts';
import { fixture } from '../support/run-cli.ts';
import { hasScript } from '../support/terminal-process.ts';

describe('list', () => {
  /** A server of ours with one tool. */
  const DOCS = { command: process.execPath, args: [CLI, 'serve', fixture('docs.ts'), '--export', 'docs'] };

  test('lists scope, file and status of each server; exit code 1 if one failed or is broken', async () => {
    const place = mcpPlace();
    place.write(userFile(place), {
      version: 1,
      mcpServers: { docs: DOCS, gone: BROKEN, off: DOCS },
      serverSettings: { off: { disabled: true } },
    });
    place.write(projectFile(place), { mcpServers: { bad: { command: 3 }, docs: DOCS, mine: DOCS } });
    const [text, json] = await Promise.all([place.mcp('list'), place.mcp('list', '--json')]);
    expect(text.stdout.replaceAll(/:\d+:\d+/g, ':L:C').split('\n')).toEqual([
      expect.stringMatching(
        /^✗ bad {3}project {2}\.mcp\.json +broken: \.mcp\.json:L:C: mcpServers\.bad\.command: /,
      ),
      expect.stringMatching(/^✓ docs {2}user {5}~\/\.toolplane\/settings\.json {2}connected \(1 tool\)$/),
      expect.stringMatching(
        /^⏸ docs {2}project .* pending approval: toolplane mcp approve docs \(until then, /,
      ),
      expect.stringMatching(/^✗ gone {2}user .* failed: command not found: no-such-command-at-all/),
      expect.stringMatching(/^⏸ mine {2}project .* pending approval: toolplane mcp approve mine$/),
      expect.stringMatching(/^⏸ off {3}user .* disabled in ~\/\.toolplane\/settings\.json$/),
      '',
    ]);
    expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 1, stderr: '' });
    const { servers } = JSON.parse(json.stdout) as {
      servers: { name: string; scope: string; state: string }[];
    };
    expect(servers.map(({ name, scope, state }) => [name, scope, state])).toEqual([
      ['bad', 'project', 'broken'],
      ['docs', 'user', 'connected'],
      ['docs', 'project', 'pending'],
      ['gone', 'user', 'failed'],
      ['mine', 'project', 'pending'],
      ['off', 'user', 'disabled'],
    ]);
    expect(json.code).toBe(1);
  });

  test('a pending server is not a failure; an empty list shows how to add a server', async () => {
    const place = mcpPlace();
    const none = await place.mcp('list');
    expect(none).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No servers are configured\. Add one: /),
    });
    place.write(projectFile(place), { mcpServers: { x: DOCS } });
    const waiting = await place.mcp('ls');
    expect(waiting).toMatchObject({ code: 0, stdout: expect.stringMatching(/^⏸ x /) });
  });

  test('reports a broken file in one line on stderr with exit code 1, and lists the other servers', async () => {
    const place = mcpPlace();
    place.write(projectFile(place), '{ "mcpServers": ');
    place.write(userFile(place), {
      mcpServers: { docs: DOCS, unmet: { ...DOCS, env: { A: '${secret:tok}' } } },
    });
    const { code, stdout, stderr } = await place.mcp('list', '--no-connect');
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(
        /^· docs {3}user .* ready\n✗ unmet {2}user .* cannot be started: secret tok, which env\.A refers to, does not exist; run "toolplane secret set tok"\n$/,
      ),
    });
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^toolplane: \.mcp\.json:\d+:\d+: /),
    ]);
  });

  test('shows the policy rule that blocks a server', async () => {
    const place = mcpPlace();
    place.write(join(place.managed, 'managed-settings.json'), { deniedMcpServers: [{ serverName: 'docs' }] });
    place.write(userFile(place), { mcpServers: { docs: DOCS } });
    const { code, stdout } = await place.mcp('list');
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^✗ docs {2}user .* blocked: deniedMcpServers/),
    });
  });

  test('reports servers that a managed file excludes in one line', async () => {
    const place = mcpPlace();
    place.write(join(place.managed, 'managed-mcp.json'), { mcpServers: { corp: DOCS } });
    place.write(userFile(place), { mcpServers: { docs: DOCS } });
    const [list, get] = await Promise.all([place.mcp('list', '--no-connect'), place.mcp('get', 'docs')]);
    expect(list).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^· corp {2}managed .* ready\n$/),
      stderr:
        'toolplane: 1 server of another scope is ignored: the managed file of this machine allows only its own servers\n',
    });
    expect(get).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no entry of this name is active'),
    });
  });

  test('get shows all entries, the active one first, without secrets', async () => {
    const place = mcpPlace();
    place.write(userFile(place), {
      mcpServers: { docs: { ...DOCS, env: { API_TOKEN: 'hunter2hunter2', HOST: '${HOME}' } } },
    });
    place.write(projectFile(place), { mcpServers: { docs: { url: 'https://a.test/mcp?key=hunter2' } } });
    const [text, json, typo] = await Promise.all([
      place.mcp('get', 'docs'),
      place.mcp('get', 'docs', '--no-connect', '--json'),
      place.mcp('get', 'doc', '--json'),
    ]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(
      /^docs\n {2}✓ connected \(1 tool\), docs [\d.]+\n {2}defined in user, ~\/\.toolplane\/settings\.json:\d+:\d+\n/,
    );
    expect(text.stdout).toContain('"HOST": "${HOME}"');
    expect(text.stdout).toMatch(
      /\n {2}also in project, \.mcp\.json:\d+:\d+: pending your approval, so user is active\n/,
    );
    expect(JSON.parse(json.stdout)).toMatchObject({
      name: 'docs',
      defined: { scope: 'user', path: userFile(place) },
      verdict: { kind: 'ready' },
      health: { state: 'ready' },
      lost: [{ scope: 'project', why: 'pending' }],
    });
    expect(JSON.stringify([text, json])).not.toContain('hunter2');
    expect(typo.code).toBe(2);
    expect(JSON.parse(typo.stdout)).toEqual({
      error: { message: 'unknown server "doc"; did you mean "docs"? (known: docs)' },
    });
  });

  test('no sub-command starts a server that is not approved (R169, C18)', async () => {
    const place = mcpPlace();
    const ran = join(place.project, 'ran');
    place.write(projectFile(place), { mcpServers: { evil: marker(ran) } });
    place.write(localFile(place), { mcpServers: { worse: marker(ran) } });
    const looks = [
      ['list'],
      ['list', '--json'],
      ['get', 'evil'],
      ['get', 'worse'],
      ['approve'],
      ['login', 'evil'],
    ];
    await Promise.all(looks.map((args) => place.mcp(...args)));
    expect(existsSync(ran)).toBe(false);
    const changes = [
      ['reject', 'evil'],
      ['list'],
      ['add', 'other', 'run'],
      ['remove', 'other'],
      ['reset-project-choices'],
    ];
    for (const args of changes) {
      await place.mcp(...args);
      expect({ args, ran: existsSync(ran) }).toEqual({ args, ran: false });
    }
    // Counter-check: an approved server is started.
    await place.mcp('approve', 'evil');
    await place.mcp('list');
    expect(existsSync(ran)).toBe(true);
  }, 60_000);

  test.runIf(hasScript)('prints colors on a terminal unless NO_COLOR is set', async () => {
    const place = mcpPlace();
    place.write(userFile(place), { mcpServers: { gone: BROKEN } });
    const coloured = mcpTerminal(place, ['list']);
    await coloured.until('\u001b[31m✗\u001b[39m gone');
    const plain = mcpTerminal(place, ['list'], { NO_COLOR: '1' });
    expect(await plain.until('gone')).not.toContain('\u001b[31m');
    expect([await coloured.closed, await plain.closed]).toEqual([
      [1, null],
      [1, null],
    ]);
  });
});

describe('list pieces', () => {
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

  async function recordOf(it: ConfiguredServer, dialled?: ServerStatus): Promise<ServerRecord> {
    const merged = { servers: [it], lost: [], faults: [] };
    const observed = dialled ? { status: dialled } : {};
    return serverRecord({ ...(await emptyConfiguration()), merged }, it.name, observed);
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
  ])('%j has a status text', async (verdict, dialled, state, text, isFailed) => {
    const record = await recordOf(server(verdict), dialled);
    expect(statusDocument(record)).toMatchObject({ state, text });
    expect(isFailing(record)).toBe(isFailed);
  });

  test('a server with an unresolved reference is failed, unless a verdict keeps it from being started', async () => {
    const configuration = await emptyConfiguration();
    const entry = { command: 'x', env: { X: '${secret:tok}' } };
    const lookup = { variable: () => undefined, secret: () => undefined };
    const unresolved = (verdict: Verdict) => {
      const merged = { servers: [{ ...server(verdict), entry }], lost: [], faults: [] };
      return statusDocument(serverRecord({ ...configuration, merged }, 'gh', { lookup }));
    };
    expect(unresolved({ kind: 'ready' })).toEqual({
      state: 'failed',
      text: expect.stringMatching(/^cannot be started: .*tok/),
    });
    expect(unresolved({ kind: 'rejected' }).state).toBe('rejected');
  });

  test.each<[string, Source['state'][], RegExp]>([
    ['no managed file exists', ['absent'], /^No servers are configured\. Add one: /],
    [
      'the managed file has no servers',
      ['read'],
      /^No servers are active: only servers in \/m0 are allowed, but that file contains no servers\./,
    ],
    [
      'the managed file cannot be read',
      ['absent', 'unusable'],
      /^No servers are active: only servers in \/m1 are allowed, but that file cannot be read\./,
    ],
  ])('the message for an empty list if %s', (_, states, text) => {
    const sources = states.map(
      (state, at): Source => ({ scope: 'managed', label: `/m${at}`, state, servers: [], faults: [] }),
    );
    const pieces = listPieces([], emptyText({ sources }));
    expect(pieces.map((piece) => render(piece, { columns: 20, hasColors: false }))).toEqual([
      expect.stringMatching(text),
    ]);
  });

  test('a name with shell syntax is quoted in a command', async () => {
    const record = await recordOf(server({ kind: 'pending', choice: 'new' }, 'a; rm -rf ~'));
    expect(statusDocument(record).text).toBe("pending approval: toolplane mcp approve 'a; rm -rf ~'");
  });

  test('the list has one line per server, and one per pending or rejected entry of the same name', async () => {
    const winner = server({ kind: 'ready' }, 'both');
    const lost = { written: written('both', 'project'), why: 'pending', winner: winner.written } as const;
    const merged = {
      servers: [{ ...winner, lost: [lost] }, server({ kind: 'blocked', rule: 'r' }, 'zed\u001b[31m')],
      lost: [{ written: written('all', 'project'), why: 'rejected' } as const],
      faults: [],
    };
    const records = listedRecords({ ...(await emptyConfiguration()), merged }, (name) =>
      name === 'both' ? { status: status({ tools: 2 }) } : {},
    );
    const look = { columns: 20, hasColors: false };
    expect(listPieces(records, '').map((piece) => render(piece, look))).toEqual([
      '⏸ all       project  ~/project.json  rejected; to undo: toolplane mcp approve all',
      '✓ both      user     ~/user.json     connected (2 tools)',
      '⏸ both      project  ~/project.json  pending approval: toolplane mcp approve both (until then, ~/user.json:2:3 (user) is active)',
      '✗ zed␛[31m  user     ~/user.json     blocked: r forbids it',
    ]);
  });

  test('the color of a mark is that of the state', async () => {
    const merged = { servers: [server({ kind: 'ready' })], lost: [], faults: [] };
    const records = listedRecords({ ...(await emptyConfiguration()), merged }, () => ({
      status: status({ tools: 0 }),
    }));
    const [piece] = listPieces(records, '');
    expect(piece && render(piece, { columns: 80, hasColors: true })).toContain('\u001b[32m✓\u001b[39m gh');
  });
});
