import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { launch } from '../../../src/agent/launch/launch.ts';
import { parseFlags } from '../../../src/agent/launch/parse-flags.ts';
import type { AgentSession } from '../../../src/agent/session/agent-session.ts';
import {
  approveSettings,
  decideServers,
  trustDirectory,
} from '../../../src/config/approval/approval-store.ts';
import type { AgentLink } from '../../../src/control/link.ts';
import { memoryLinks } from '../../../src/control/memory-link.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import { odd } from '../../cli/support/real-servers.ts';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';

describe('configured', () => {
  /** A session in the project of a place; it ends with the test. */
  async function started(place: ConfigPlace, argv: readonly string[] = [], env: Record<string, string> = {}) {
    const { agent, program } = memoryLinks();
    const notes: string[] = [];
    const stop = new AbortController();
    const session = await launch(agent, {
      flags: parseFlags(['--no-session-persistence', '--tools=', '--model=rehearsal', ...argv]),
      env: { ...place.env, ...env },
      cwd: place.project,
      home: place.userHome,
      version: '1',
      now: () => new Date(),
      // Messages about the connections and tools of servers are left out.
      note: (line) =>
        void (/^(MCP server|warning: (the definition of )?tool) "/.test(line) || notes.push(line)),
      signal: stop.signal,
    });
    onTestFinished(async () => {
      stop.abort();
      await program.close();
      await session.done.catch(() => {});
    });
    if (!('servers' in session)) throw new Error('the session has no conversation');
    return { session, notes, program };
  }

  const servers = (mcpServers: object) => ({ mcpServers });
  const names = ({ servers }: AgentSession) => [...servers.all.keys()].toSorted();

  /** Waits until the session has exactly these servers. */
  async function until(session: AgentSession, ...expected: string[]): Promise<void> {
    await expect.poll(() => names(session), { timeout: 10_000, interval: 20 }).toEqual(expected);
  }

  describe('configured servers', () => {
    test('user, approved project and local servers, each from its file (R166, R169)', async () => {
      const place = configPlace();
      place.write(join(place.home, 'settings.json'), servers({ mine: odd(), both: { command: 'user' } }));
      const project = place.write(join(place.project, '.mcp.json'), servers({ both: odd(), waits: odd() }));
      decideServers(place.home, [{ scope: 'project', path: project, name: 'both', raw: odd() }], 'approved');
      const { session, notes } = await started(place);
      await session.servers.settled();
      expect(names(session)).toEqual(['both', 'mine']);
      expect(session.servers.all.get('both')?.state.kind).toBe('connected');
      expect(notes).toEqual([
        'server "waits" in .mcp.json:11:5 is not approved and was not started: run toolplane mcp approve waits',
      ]);
    });

    test('a pending server is not started and does not shadow an active one', async () => {
      const place = configPlace();
      const proof = join(place.project, 'it-ran');
      place.write(join(place.home, 'settings.json'), servers({ name: odd() }));
      place.write(join(place.project, '.mcp.json'), servers({ name: { command: 'touch', args: [proof] } }));
      const { session, notes } = await started(place);
      await session.servers.settled();
      expect(session.servers.all.get('name')?.entry).toEqual(odd());
      expect(notes).toEqual([expect.stringMatching(/^server "name" in \.mcp\.json:3:5 is not approved/)]);
    });

    test.each([
      ['--strict-mcp-config', ['given']],
      ['--setting-sources=', ['given']],
      ['--setting-sources=user', ['given', 'mine']],
      ['--setting-sources=project', ['given', 'shared']],
    ])('%s excludes the other sources', async (flag, expected) => {
      const place = configPlace();
      place.write(join(place.home, 'settings.json'), servers({ mine: odd() }));
      place.write(join(place.project, '.mcp.json'), servers({ shared: odd() }));
      trustDirectory(place.home, place.project);
      const { session, notes } = await started(place, [
        `--mcp-config=${JSON.stringify(servers({ given: odd() }))}`,
        flag,
      ]);
      expect(names(session)).toEqual(expected);
      expect(notes).toEqual([]);
    });

    test('an invalid entry is reported with its location; the others are connected', async () => {
      const place = configPlace();
      place.write(
        join(place.home, 'settings.json'),
        '{ "mcpServers": {\n  "bad": { "command": 7 },\n "good": { "command": "x" } } }',
      );
      const { session, notes } = await started(place, [
        `--mcp-config=${JSON.stringify(servers({ worse: { type: 'nope' }, fine: odd() }))}`,
      ]);
      expect(names(session)).toEqual(['fine', 'good']);
      expect(notes.join('\n')).toMatch(/settings\.json:2:.*mcpServers\.bad\.command/);
      expect(notes.join('\n')).toMatch(/--mcp-config.*mcpServers\.worse/);
    });

    test.each([
      ['a list that is none', '{ "permissions": { "deny": 1 } }'],
      ['no JSON', '{'],
    ])('unreadable managed settings prevent the start: %s', async (_, text) => {
      const place = configPlace();
      place.write(join(place.managed, 'managed-settings.json'), text);
      await expect(started(place)).rejects.toMatchObject({
        code: 'bad-option',
        message: /managed-settings\.json/,
      });
    });

    test('a managed file excludes all others, also those that the program names later (R168)', async () => {
      const place = configPlace();
      place.write(join(place.managed, 'managed-mcp.json'), servers({ theirs: odd() }));
      place.write(join(place.home, 'settings.json'), servers({ mine: odd() }));
      const { session, notes } = await started(place, [
        `--mcp-config=${JSON.stringify(servers({ given: odd(), theirs: odd({ MINE: '1' }) }))}`,
      ]);
      expect(names(session)).toEqual(['theirs']);
      const because = /was not started: .*managed-mcp\.json allows only the servers it defines$/;
      expect(notes.toSorted()).toEqual([
        expect.stringMatching(/managed-mcp\.json excludes one server that is configured elsewhere/),
        expect.stringMatching(new RegExp(`^server "given" in --mcp-config.* ${because.source}`)),
        expect.stringMatching(new RegExp(`^server "theirs" in --mcp-config.* ${because.source}`)),
      ]);
      const { errors } = await session.servers.replace({ later: odd() });
      expect(errors.later).toMatch(/managed-mcp\.json allows only the servers it defines/);
      const { errors: taken } = await session.servers.replace({ theirs: odd({ NOT: 'theirs' }) });
      expect(taken.theirs).toMatch(/managed-mcp\.json allows only the servers it defines/);
    });

    test('policy is checked after variables are substituted', async () => {
      const place = configPlace();
      const deniedMcpServers = [{ serverUrl: 'http://127.0.0.1:*/*' }];
      place.write(join(place.managed, 'managed-settings.json'), { deniedMcpServers });
      place.write(join(place.home, 'settings.json'), servers({ sly: { url: '${WHERE}/mcp' } }));
      const { session } = await started(place, [], { WHERE: 'http://127.0.0.1:9' });
      await session.servers.settled();
      expect(session.servers.all.get('sly')?.state).toMatchObject({
        kind: 'failed',
        fault: expect.stringMatching(/blocked by policy: deniedMcpServers\[0\]/),
      });
    });
  });

  test('a new policy stops a running server that it denies, also after substitution', async () => {
    const place = configPlace();
    const { command, ...rest } = odd();
    place.write(join(place.home, 'settings.json'), servers({ sly: { ...rest, command: '${RUN}' } }));
    const { session } = await started(place, [], { RUN: command });
    await session.servers.settled();
    expect(session.servers.all.get('sly')?.state.kind).toBe('connected');
    const deniedMcpServers = [{ serverCommand: [command, ...rest.args] }];
    place.write(join(place.managed, 'managed-settings.json'), { deniedMcpServers });
    await expect
      .poll(() => session.servers.all.get('sly')?.state, { timeout: 10_000 })
      .toMatchObject({
        kind: 'failed',
        fault: expect.stringMatching(/blocked by policy/),
      });
  });

  describe('changes of configuration files during the session', () => {
    test('added, removed and changed servers are applied; the others keep their connections', async () => {
      const place = configPlace();
      const path = join(place.home, 'settings.json');
      place.write(path, servers({ stays: odd(), goes: odd(), changes: odd() }));
      const { session, notes } = await started(place);
      await session.servers.settled();
      const before = session.servers.connection('stays');
      place.write(path, servers({ stays: odd(), changes: odd({ NEW: '1' }), comes: odd() }));
      await until(session, 'changes', 'comes', 'stays');
      await session.servers.settled();
      expect(session.servers.connection('stays')).toBe(before);
      expect(session.servers.all.get('changes')?.entry).toEqual(odd({ NEW: '1' }));
      expect(session.servers.all.get('comes')?.state.kind).toBe('connected');
      expect(notes).toEqual(['configuration: added comes; removed goes; restarted changes']);
    });

    test('an approval by another process starts the pending server', async () => {
      const place = configPlace();
      const path = place.write(join(place.project, '.mcp.json'), servers({ waits: odd() }));
      const { session } = await started(place);
      expect(names(session)).toEqual([]);
      decideServers(place.home, [{ scope: 'project', path, name: 'waits', raw: odd() }], 'approved');
      await until(session, 'waits');
      place.write(path, servers({ waits: odd({ CHANGED: '1' }) }));
      await until(session);
    });

    test('an invalid file changes nothing until it is valid again', async () => {
      const place = configPlace();
      const path = join(place.home, 'settings.json');
      place.write(path, servers({ a: odd(), b: odd() }));
      const { session, notes } = await started(place);
      await session.servers.settled();
      const before = session.servers.connection('a');
      place.write(path, '{ "mcpServers": { "a": ');
      await expect
        .poll(() => notes.join('\n'), { timeout: 10_000 })
        .toContain('its previous content stays active');
      expect(names(session)).toEqual(['a', 'b']);
      expect(session.servers.connection('a')).toBe(before);
      place.write(path, servers({ a: odd() }));
      await until(session, 'a');
      expect(session.servers.connection('a')).toBe(before);
      expect(notes.slice(-2)).toEqual([
        expect.stringMatching(/settings\.json can be read again and is active$/),
        'configuration: removed b',
      ]);
    });

    test('servers that are stopped or not started for lack of approval are reported once', async () => {
      const place = configPlace();
      const path = place.write(join(place.project, '.mcp.json'), servers({ known: odd() }));
      decideServers(place.home, [{ scope: 'project', path, name: 'known', raw: odd() }], 'approved');
      const { session, notes } = await started(place);
      expect(names(session)).toEqual(['known']);
      const told = (count: number) => expect.poll(() => notes.length, { timeout: 10_000 }).toBe(count);
      place.write(path, servers({ known: odd({ CHANGED: '1' }) }));
      await told(2);
      place.write(path, servers({ comes: odd(), known: odd({ CHANGED: '1' }) }));
      await told(3);
      place.write(join(place.project, '.toolplane/settings.local.json'), {
        permissions: { allow: ['Bash'] },
      });
      await told(4);
      expect(notes).toEqual([
        'configuration: removed known',
        'server "known" in .mcp.json:3:5 changed since it was approved and was not started: run toolplane mcp approve known',
        'server "comes" in .mcp.json:3:5 is not approved and was not started: run toolplane mcp approve comes',
        expect.stringMatching(
          /^\.toolplane\/settings\.local\.json is not approved, so only its restrictions/,
        ),
      ]);
      expect(names(session)).toEqual([]);
    });

    test('deleting a file removes its servers, creating it adds them', async () => {
      const place = configPlace();
      const path = place.write(join(place.home, 'settings.json'), servers({ a: odd() }));
      const { session } = await started(place);
      rmSync(path);
      await until(session);
      place.write(join(place.project, '.toolplane/settings.local.json'), servers({ local: odd() }));
      trustDirectory(place.home, place.project);
      await until(session, 'local');
    });
  });

  test('mcp_status reports the scope of each server and no substituted values', async () => {
    const place = configPlace();
    const entry = { ...odd(), args: [...odd().args, '--key', '${API_KEY}'] };
    place.write(join(place.home, 'settings.json'), servers({ mine: entry }));
    const { session, program } = await started(place, [], { API_KEY: 'hush-hush-hush' });
    await session.servers.settled();
    const status = JSON.stringify(await asked(program, 'mcp_status'));
    expect(status).toContain('${API_KEY}');
    expect(status).not.toContain('hush');
    expect(JSON.parse(status)).toMatchObject({
      mcpServers: [{ name: 'mine', status: 'connected', scope: 'user' }],
    });
  });

  async function asked(program: AgentLink, subtype: string): Promise<unknown> {
    await program.send({ type: 'control_request', request_id: '1', request: { subtype } } as Frame);
    for await (const frame of program.frames) {
      if (frame.type === 'control_response') return (frame.response as { response: unknown }).response;
    }
    throw new Error('no answer');
  }
});

describe('broken settings', () => {
  /** A session that may run commands, and how many calls a prompt was denied. */
  async function started(place: ConfigPlace) {
    place.write(join(place.home, 'settings.json'), { permissions: { allow: ['Bash'] } });
    const { agent, program } = memoryLinks();
    const stop = new AbortController();
    const notes: string[] = [];
    const session = await launch(agent, {
      flags: parseFlags(['--no-session-persistence', '--tools=Bash', '--model=rehearsal']),
      env: { ...place.env, PATH: process.env.PATH },
      cwd: place.project,
      home: place.userHome,
      version: '1',
      now: () => new Date(),
      note: (line) => void notes.push(line),
      signal: stop.signal,
    });
    onTestFinished(async () => {
      stop.abort();
      await program.close();
      await session.done.catch(() => {});
    });
    const frames = program.frames[Symbol.asyncIterator]();
    const denials = async (): Promise<number> => {
      const content = 'call Bash with {"command": "echo it-ran"}';
      await program.send({ type: 'user', message: { role: 'user', content } } as Frame);
      for (;;) {
        const { value, done } = await frames.next();
        if (done) throw new Error('no result');
        if (value.type === 'result') return (value.permission_denials as unknown[]).length;
      }
    };
    const said = (text: string) =>
      expect.poll(() => notes.filter((it) => it.includes(text)).length, { timeout: 10_000 }).toBe(1);
    return { denials, notes, said };
  }

  const DENY = { permissions: { deny: ['Bash(echo *)'] } };
  const FILES = {
    'managed settings': ({ managed }: ConfigPlace) => join(managed, 'managed-settings.json'),
    'settings of the project': ({ project }: ConfigPlace) => join(project, '.toolplane/settings.json'),
    'local settings': ({ project }: ConfigPlace) => join(project, '.toolplane/settings.local.json'),
    'the project’s settings of the claude CLI': ({ project }: ConfigPlace) =>
      join(project, '.claude/settings.json'),
    'the user’s settings of the claude CLI': ({ userHome }: ConfigPlace) =>
      join(userHome, '.claude/settings.json'),
  };

  test('a hook of a project’s .claude settings runs after approval, with CLAUDE_PROJECT_DIR', async () => {
    const place = configPlace();
    const command = 'test "$CLAUDE_PROJECT_DIR" = "$PWD" && exit 2; exit 0';
    const value = { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command, if: 'Bash(echo *)' }] }] } };
    const path = place.write(join(place.project, '.claude/settings.json'), value);
    expect(await (await started(place)).denials()).toBe(0);
    approveSettings(place.home, { scope: 'project', path, value });
    expect(await (await started(place)).denials()).toBe(1);
  });

  test.each(Object.entries(FILES))(
    'deny rules of %s stay in force while the file is invalid',
    async (_, fileOf) => {
      const place = configPlace();
      const path = place.write(fileOf(place), DENY);
      const { denials, said, notes } = await started(place);
      expect(await denials()).toBe(1);
      place.write(path, '{ "permissions": { "deny": ["Ba');
      await said('cannot be read; its previous content stays active');
      expect(await denials()).toBe(1);
      place.write(path, '');
      await said('is empty; its previous content stays active');
      expect(await denials()).toBe(1);
      place.write(path, {});
      await expect.poll(denials, { timeout: 10_000 }).toBe(0);
      expect(notes.filter((it) => it.includes('stays active'))).toHaveLength(2);
    },
  );

  test('invalid managed settings change nothing in a running session', async () => {
    const place = configPlace();
    const path = place.write(join(place.managed, 'managed-settings.json'), DENY);
    const { denials, said } = await started(place);
    place.write(path, { permissions: { deny: 'Bash(echo *)' } });
    await said('contains an error that Toolplane cannot start with; its previous content stays active');
    expect(await denials()).toBe(1);
  });
});
