import { existsSync, readFileSync } from 'node:fs';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { fileRuleStore } from '../../../src/config/settings/file-rule-store.ts';
import type { Asker } from '../../../src/permissions/ask.ts';
import type { Rule } from '../../../src/permissions/rule.ts';
import { EMPTY_RULES, type RuleSet } from '../../../src/permissions/rule-store.ts';
import type { CanUseTool, Options } from '../../../src/sdk/options/options.ts';

import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';
import { collect } from '../../support/collect.ts';
import {
  allow,
  asks,
  calc,
  deny,
  drive,
  raw,
  resultOf,
  results,
  said,
  untilResult,
} from '../../support/drive.ts';
import { gate } from '../../support/gate.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

describe('session permissions', () => {
  const ADD = toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1');
  const yes: CanUseTool = async () => ({ behavior: 'allow' });

  test.each([
    [
      'deny beats allow',
      [...deny('mcp__calc__add'), ...allow('mcp__calc')],
      '!<tool_use_error>Error: No such tool available: mcp__calc__add</tool_use_error>',
    ],
    ['allow', allow('mcp__calc__add'), '3'],
    ['allow for the whole server', allow('mcp__calc__*'), '3'],
    ['ask beats allow', [...asks('mcp__calc__add'), ...allow('mcp__calc')], '!asked'],
    ['no rule: asked', [], '!asked'],
  ])('rules: %s (C14)', async (_, rules, expected) => {
    const { query, model } = drive(
      [ADD, text('ok')],
      { mcpServers: { calc: calc() }, canUseTool: async () => ({ behavior: 'deny', message: 'asked' }) },
      { rules },
    );
    await collect(query);
    expect(results(model.requests[1])).toEqual({ t1: expected });
  });

  async function folder(): Promise<string> {
    return realpath(await temporaryRoot());
  }

  const EDITOR = { builtIns: ['Write', 'Read', 'Grep', 'Glob'] };
  const at = (cwd: string) => ({ workspace: { cwd, home: '/h', directories: [] } });

  test.each([
    ['default', {}, '!asked'],
    ['acceptEdits', {}, /^(?!!)/],
    ['plan', {}, /^!mode plan/],
    ['dontAsk', {}, /^!mode dontAsk/],
    ['bypassPermissions', { mayBypass: true }, /^(?!!)/],
    ['bypassPermissions', { mayBypass: false }, '!asked'],
  ] as const)('mode %s with %j: a Write in the workspace', async (permissionMode, more, expected) => {
    const cwd = await folder();
    const { query, model } = drive(
      [toolUse('Write', { file_path: 'a.txt', content: 'x' }, 't1'), text('ok')],
      { canUseTool: async () => ({ behavior: 'deny', message: 'asked' }) },
      { ...EDITOR, ...at(cwd), permissionMode, ...more },
    );
    await collect(query);
    if (typeof expected === 'string') expect(results(model.requests[1]).t1).toBe(expected);
    else expect(results(model.requests[1]).t1).toMatch(expected);
  });

  test('a deny rule holds in mode bypassPermissions', async () => {
    const { query, model } = drive(
      [toolUse('Write', { file_path: 'a.txt', content: 'x' }, 't1'), text('ok')],
      {},
      {
        ...EDITOR,
        ...at(await folder()),
        permissionMode: 'bypassPermissions',
        mayBypass: true,
        rules: deny('Edit(a.txt)'),
      },
    );
    await collect(query);
    expect(results(model.requests[1]).t1).toMatch(/^!deny rule "Edit\(a.txt\)"/);
  });

  test('set_permission_mode: unknown modes and bypass without the launch flag are refused', async () => {
    const { ask } = raw([]);
    expect(await ask('set_permission_mode', { mode: 'bypassPermissions' })).toMatchObject({
      subtype: 'error',
      error_code: 'bypass_not_launched',
      error: expect.stringContaining('start with --allow-dangerously-skip-permissions'),
    });
    expect(await ask('set_permission_mode', { mode: 'constructor' })).toMatchObject({ subtype: 'error' });
    expect(await ask('set_permission_mode', { mode: 'plan' })).toMatchObject({ response: { mode: 'plan' } });
    expect(await ask('initialize')).toMatchObject({ response: { current_permission_mode: 'plan' } });
  });

  test('set_permission_mode during a turn applies from the next call on', async () => {
    const { query, model } = drive(
      async (_, n) => {
        if (n === 2) await query.setPermissionMode('bypassPermissions');
        return n === 3 ? text('ok') : toolUse('mcp__calc__add', { a: n, b: 0 }, `t${n}`);
      },
      { mcpServers: { calc: calc() }, canUseTool: async () => ({ behavior: 'deny', message: 'asked' }) },
      { mayBypass: true },
    );
    await collect(query);
    expect(results(model.requests[2])).toEqual({ t1: '!asked', t2: '2' });
  });

  test('an input changed by canUseTool runs unless a deny rule matches it', async () => {
    const cwd = await folder();
    await writeFile(join(cwd, 'secret.txt'), 'hidden');
    await writeFile(join(cwd, 'other.txt'), 'shown');
    const to =
      (file_path: string): CanUseTool =>
      async () => ({ behavior: 'allow', updatedInput: { file_path } });
    for (const [file, expected] of [
      ['secret.txt', /^!deny rule "Read\(secret.txt\)"/],
      ['other.txt', /shown/],
    ] as const) {
      const { query, model } = drive(
        [toolUse('Read', { file_path: '/etc/hosts' }, 't1'), text('ok')],
        { canUseTool: to(file) },
        { ...EDITOR, ...at(cwd), rules: deny('Read(secret.txt)') },
      );
      await collect(query);
      expect(results(model.requests[1]).t1).toMatch(expected);
    }
  });

  test('"always allow" for the session allows the next call', async () => {
    let asked = 0;
    const canUseTool: CanUseTool = async (_, __, { suggestions = [] }) => {
      asked++;
      const updatedPermissions = suggestions.map((it) => ({ ...it, destination: 'session' as const }));
      return { behavior: 'allow', updatedPermissions };
    };
    const { query, model } = drive([ADD, toolUse('mcp__calc__add', { a: 5, b: 5 }, 't2'), text('ok')], {
      mcpServers: { calc: calc() },
      canUseTool,
    });
    await collect(query);
    expect({ asked, results: results(model.requests[2]) }).toEqual({
      asked: 1,
      results: { t1: '3', t2: '10' },
    });
  });

  test('"always allow" for a file outside the workspace covers only that file, also through a link', async () => {
    const outside = await folder();
    await writeFile(join(outside, 'one'), 'first');
    await writeFile(join(outside, 'two'), 'second');
    await symlink('one', join(outside, 'link'));
    const asked: unknown[] = [];
    const read = (name: string, id: string) => toolUse('Read', { file_path: join(outside, name) }, id);
    const { query } = drive(
      [read('link', 't1'), read('link', 't2'), read('one', 't3'), read('two', 't4'), text('ok')],
      {
        canUseTool: async (_, { file_path }, { suggestions = [] }) => {
          asked.push(file_path);
          return { behavior: 'allow', updatedPermissions: suggestions };
        },
      },
      { ...EDITOR, ...at(await folder()) },
    );
    await collect(query);
    expect(asked).toEqual([join(outside, 'one'), join(outside, 'two')]);
  });

  test('an answer cannot set bypassPermissions without the launch flag', async () => {
    let asked = 0;
    const { query, session } = drive([ADD, toolUse('mcp__calc__add', { a: 1, b: 1 }), text('ok')], {
      mcpServers: { calc: calc() },
      canUseTool: async () => {
        asked++;
        return {
          behavior: 'allow',
          updatedPermissions: [{ type: 'setMode', mode: 'bypassPermissions', destination: 'session' }],
        };
      },
    });
    await collect(query);
    expect({ asked, modes: session().context.rules.current().modes }).toEqual({ asked: 2, modes: {} });
  });

  test('a denial with interrupt ends the turn; the next turn works', async () => {
    const next = Promise.withResolvers<void>();
    async function* prompts() {
      yield said('one');
      await next.promise;
      yield said('two');
    }
    const { query, model } = drive([ADD, text('second')], {
      prompt: prompts(),
      mcpServers: { calc: calc() },
      canUseTool: async () => ({ behavior: 'deny', message: 'stop it', interrupt: true }),
    });
    const first = await untilResult(query);
    expect(resultOf(first)).toMatchObject({
      subtype: 'error_during_execution',
      permission_denials: [{ tool_use_id: 't1' }],
    });
    next.resolve();
    expect(resultOf(await untilResult(query))).toMatchObject({ subtype: 'success', result: 'second' });
    expect(results(model.requests[1]).t1).toMatch(/^!/);
  });

  test('if a PermissionRequest hook answers first, canUseTool is cancelled', async () => {
    const withdrawn = Promise.withResolvers<void>();
    const { query, model } = drive([ADD, text('ok')], {
      mcpServers: { calc: calc() },
      canUseTool: (_, __, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            withdrawn.resolve();
            resolve({ behavior: 'deny', message: 'late' });
          });
        }),
      hooks: {
        PermissionRequest: [
          {
            hooks: [
              async () => ({
                hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
              }),
            ],
          },
        ],
      },
    });
    await collect(query);
    await withdrawn.promise;
    expect(results(model.requests[1])).toEqual({ t1: '3' });
  });

  test('if canUseTool answers first, the PermissionRequest hook is cancelled', async () => {
    const notes: string[] = [];
    const hook = gate<object>();
    const { query, model, frames } = drive(
      [ADD, text('ok')],
      {
        mcpServers: { calc: calc() },
        canUseTool: async () => {
          await hook.reached;
          return { behavior: 'allow' };
        },
        hooks: { PermissionRequest: [{ hooks: [() => hook.pass()] }] },
      },
      { note: (note) => notes.push(note) },
    );
    await collect(query);
    hook.open({});
    const asked = frames.find(
      ({ frame }) => (frame.request as { subtype?: string })?.subtype === 'hook_callback',
    );
    const cancelled = frames.filter(({ frame }) => frame.type === 'control_cancel_request');
    expect(results(model.requests[1])).toEqual({ t1: '3' });
    expect(cancelled).toMatchObject([{ from: 'agent', frame: { request_id: asked?.frame.request_id } }]);
    expect(notes).toEqual([]);
  });

  test('a PermissionRequest hook that denies with interrupt ends the turn', async () => {
    const { query } = drive([ADD], {
      mcpServers: { calc: calc() },
      hooks: {
        PermissionRequest: [
          {
            hooks: [
              async () => ({
                hookSpecificOutput: {
                  hookEventName: 'PermissionRequest',
                  decision: { behavior: 'deny', message: 'no', interrupt: true },
                },
              }),
            ],
          },
        ],
      },
      canUseTool: () => new Promise(() => {}),
    });
    expect(resultOf(await collect(query))).toMatchObject({ subtype: 'error_during_execution' });
  });

  test('askers run concurrently; an asker that fails does not decide', async () => {
    const inbox: Asker = { name: 'inbox', ask: async () => ({ behavior: 'allow' }) };
    const broken: Asker = { name: 'broken', ask: async () => ({ behavior: 'maybe' }) };
    const { query, model } = drive(
      [ADD, text('ok')],
      { mcpServers: { calc: calc() }, canUseTool: () => new Promise(() => {}) },
      { askers: [broken, inbox] },
    );
    await collect(query);
    expect(results(model.requests[1])).toEqual({ t1: '3' });
  });

  const NOBODY =
    'Permission required, but there is no user or callback to ask; the rule "mcp__calc__add" would allow the call.';

  test('without an asker a call is denied, reported in a message and to a hook, and listed in the result', async () => {
    const heard: unknown[] = [];
    const { query, model } = drive(
      [ADD, text('ok')],
      {
        mcpServers: { calc: calc() },
        hooks: {
          PermissionDenied: [
            {
              hooks: [
                async (input) => {
                  heard.push(input);
                  return {};
                },
              ],
            },
          ],
        },
      },
      { asksProgram: false },
    );
    const messages = await collect(query);
    expect(results(model.requests[1]).t1).toBe(`!${NOBODY}`);
    expect(messages.find((it) => 'subtype' in it && it.subtype === 'permission_denied')).toMatchObject({
      tool_name: 'mcp__calc__add',
      tool_use_id: 't1',
      message: NOBODY,
    });
    expect(heard).toMatchObject([{ tool_name: 'mcp__calc__add', tool_input: { a: 1, b: 2 } }]);
    expect(resultOf(messages)).toMatchObject({ permission_denials: [{ tool_name: 'mcp__calc__add' }] });
  });

  test('a malformed answer is a denial', async () => {
    const { ask, asked, answer, send, model, result } = raw([ADD, text('ok')], { builtIns: [] });
    await ask('initialize', { sdkMcpServers: ['calc'] });
    // The program answers for its server, and supports only three messages.
    void (async () => {
      for (let n = 1; ; n++) {
        const { request_id, request } = await asked('mcp_message', n);
        const { method, id } = request.message as { method: string; id?: number };
        const tool = { name: 'add', inputSchema: { type: 'object' } };
        const replies: Record<string, object> = {
          initialize: {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'x', version: '1' },
          },
          'tools/list': { tools: [tool] },
        };
        await answer(request_id, { mcp_response: { jsonrpc: '2.0', id, result: replies[method] ?? {} } });
      }
    })();
    await send({ type: 'user', message: { role: 'user', content: 'go' } });
    const { request_id } = await asked('can_use_tool');
    await answer(request_id, { behavior: 'allow', updatedInput: 'none' });
    await result();
    expect(results(model.requests[1]).t1).toMatch(/^!Permission required, but the approval request failed/);
  });

  const policed = (permission_policy: 'always_allow' | 'always_ask' | 'always_deny') => ({
    type: 'sdk' as const,
    name: 'calc',
    instance: calc().instance,
    tools: [{ name: 'add', permission_policy }],
  });

  test.each([
    ['always_deny', '!<tool_use_error>Error: No such tool available: mcp__calc__add</tool_use_error>', 0],
    ['always_ask', '3', 1],
    ['always_allow', '3', 0],
  ] as const)('server policy %s', async (policy, expected, times) => {
    let asked = 0;
    const { query, model } = drive(
      [ADD, text('ok')],
      {
        mcpServers: { calc: policed(policy) },
        canUseTool: async () => {
          asked++;
          return { behavior: 'allow' };
        },
      },
      { rules: policy === 'always_ask' ? allow('mcp__calc') : [] },
    );
    await collect(query);
    expect({ result: results(model.requests[1]).t1, asked }).toEqual({ result: expected, asked: times });
  });

  test('requiresUserInteraction asks despite an allow rule and offers no "always"', async () => {
    const seen: unknown[] = [];
    const server = toolServer('s').tool('sign', 'Signs', { x: z.number() }, () => 'signed', {
      _meta: { 'anthropic/requiresUserInteraction': true },
    } as never);
    const { query, model, frames } = drive(
      [toolUse('mcp__s__sign', { x: 1 }, 't1'), text('ok')],
      {
        mcpServers: { s: server },
        canUseTool: async (name, _, context) => {
          seen.push([name, context.suggestions]);
          return { behavior: 'allow' };
        },
      },
      { rules: allow('mcp__s'), permissionMode: 'bypassPermissions', mayBypass: true },
    );
    await collect(query);
    expect(seen).toEqual([['mcp__s__sign', undefined]]);
    expect(results(model.requests[1])).toEqual({ t1: 'signed' });
    const request = frames.find(
      ({ frame }) => (frame.request as { subtype?: string })?.subtype === 'can_use_tool',
    );
    expect(request?.frame.request).toMatchObject({
      mcp_server: { name: 's', source: 'sdk' },
      requires_user_interaction: true,
      suppress_always_allow_rule: true,
    });
  });

  test.each([
    ['the link', 'Read(link.txt)'],
    ['what it leads to', 'Read(secret/**)'],
  ])('a link to a file is denied by a rule for %s', async (_, rule) => {
    const cwd = await folder();
    await mkdir(join(cwd, 'secret'));
    await writeFile(join(cwd, 'secret/key'), 'hidden');
    await symlink('secret/key', join(cwd, 'link.txt'));
    const { query, model } = drive(
      [toolUse('Read', { file_path: 'link.txt' }, 't1'), text('ok')],
      { canUseTool: yes },
      { ...EDITOR, ...at(cwd), rules: deny(rule) },
    );
    await collect(query);
    expect(results(model.requests[1]).t1).toMatch(/^!deny rule/);
  });

  test('a link that leads out of the workspace requires approval', async () => {
    const cwd = await folder();
    const outside = await folder();
    await writeFile(join(outside, 'x'), 'far');
    await symlink(join(outside, 'x'), join(cwd, 'x'));
    const asked: unknown[] = [];
    const { query } = drive(
      [toolUse('Read', { file_path: 'x' }, 't1'), text('ok')],
      {
        canUseTool: async (_, input) => {
          asked.push(input);
          return { behavior: 'deny', message: 'no' };
        },
      },
      { ...EDITOR, ...at(cwd) },
    );
    await collect(query);
    expect(asked).toEqual([{ file_path: join(outside, 'x') }]);
  });

  test.each([
    ['Read', ['Read(secret.txt)']],
    ['the tools themselves', ['Grep(secret.txt)', 'Glob(secret.txt)']],
  ])('Grep and Glob omit files that a deny rule for %s covers', async (_, rules) => {
    const cwd = await folder();
    await writeFile(join(cwd, 'open.txt'), 'needle one\n');
    await writeFile(join(cwd, 'secret.txt'), 'needle two\n');
    const { query, model } = drive(
      [
        together(
          toolUse('Grep', { pattern: 'needle', output_mode: 'content' }, 'grep'),
          toolUse('Glob', { pattern: '*.txt' }, 'glob'),
        ),
        text('ok'),
      ],
      { canUseTool: yes },
      { ...EDITOR, ...at(cwd), rules: deny(...rules) },
    );
    await collect(query);
    const { grep, glob } = results(model.requests[1]);
    expect({ grep, glob }).toEqual({
      grep: expect.stringContaining('needle one'),
      glob: expect.stringContaining('open.txt'),
    });
    expect(`${grep}${glob}`).not.toMatch(/secret|needle two/);
  });

  test('in mode dontAsk a hook that asks denies', async () => {
    let asked = 0;
    const { query, model } = drive(
      [ADD, text('ok')],
      {
        mcpServers: { calc: calc() },
        canUseTool: async () => {
          asked++;
          return { behavior: 'allow' };
        },
        hooks: {
          PreToolUse: [
            {
              hooks: [
                async () => ({
                  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' },
                }),
              ],
            },
          ],
        },
      },
      { permissionMode: 'dontAsk', rules: allow('mcp__calc') },
    );
    await collect(query);
    expect({ asked, result: results(model.requests[1]).t1 }).toEqual({
      asked: 0,
      result: expect.stringMatching(/^!mode dontAsk denies/),
    });
  });
});

describe('saved rules', () => {
  const CALL = toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1');
  const LOCAL = '.toolplane/settings.local.json';

  /** Runs a session with rules in files; returns the permission requests, the notes and the result of the call. */
  async function session(place: ConfigPlace, initial: RuleSet, options: Options) {
    const notes: string[] = [];
    const note = (told: string) => void notes.push(told);
    const {
      query,
      model,
      session: made,
    } = drive(
      [CALL, text('ok')],
      { mcpServers: { calc: calc() }, ...options },
      {
        ruleStore: fileRuleStore({ context: place.world(), initial, note }),
        workspace: { cwd: place.project, home: place.userHome, directories: [] },
        note,
      },
    );
    await collect(query);
    return { result: results(model.requests[1]).t1, notes, rules: made().context.rules.current().rules };
  }

  test('"always allow" for the project is saved and applies in the next session', async () => {
    const place = configPlace();
    const offered: unknown[] = [];
    const canUseTool: CanUseTool = async (_, __, { suggestions = [] }) => {
      offered.push(suggestions);
      return { behavior: 'allow', updatedPermissions: suggestions };
    };
    const first = await session(place, EMPTY_RULES, { canUseTool });
    expect(offered).toEqual([
      [
        {
          type: 'addRules',
          rules: [{ toolName: 'mcp__calc__add' }],
          behavior: 'allow',
          destination: 'localSettings',
        },
      ],
    ]);
    expect(first).toMatchObject({ result: '3', notes: [`rule saved to ${LOCAL}`] });

    const { settings } = await readConfiguration(place.world());
    const second = await session(place, settings.permissions, { canUseTool });
    expect([second.result, offered.length]).toEqual(['3', 1]);
  });

  test('rules added by a hook are not saved to files', async () => {
    const place = configPlace();
    const { result, rules } = await session(place, EMPTY_RULES, {
      canUseTool: () => new Promise(() => {}),
      hooks: {
        PermissionRequest: [
          {
            hooks: [
              async () => ({
                hookSpecificOutput: {
                  hookEventName: 'PermissionRequest',
                  decision: {
                    behavior: 'allow',
                    updatedPermissions: [
                      {
                        type: 'addRules',
                        rules: [{ toolName: 'mcp__calc__add' }],
                        behavior: 'allow',
                        destination: 'userSettings',
                      },
                    ],
                  },
                },
              }),
            ],
          },
        ],
      },
    });
    expect(result).toBe('3');
    expect(rules.filter(({ tool }) => tool === 'mcp__calc__add')).toEqual([
      { tool: 'mcp__calc__add', effect: 'allow', source: 'session' },
    ]);
    expect([existsSync(join(place.home, 'settings.json')), existsSync(join(place.project, LOCAL))]).toEqual([
      false,
      false,
    ]);
  });

  test('an invalid rule is reported and not saved', async () => {
    const place = configPlace();
    const { notes } = await session(place, EMPTY_RULES, {
      canUseTool: async () => ({
        behavior: 'allow',
        updatedPermissions: [
          { type: 'addRules', rules: [{ toolName: '*' }], behavior: 'allow', destination: 'localSettings' },
        ],
      }),
    });
    expect(notes).toEqual([expect.stringContaining('would allow tools of any server')]);
    expect(existsSync(join(place.project, LOCAL))).toBe(false);
  });

  test('if the file cannot be written, the call runs, the rule applies to the session, and the cause is reported', async () => {
    const place = configPlace();
    const path = place.write(join(place.project, LOCAL), '{ broken');
    const { result, notes } = await session(place, EMPTY_RULES, {
      canUseTool: async (_, __, { suggestions = [] }) => ({
        behavior: 'allow',
        updatedPermissions: suggestions,
      }),
    });
    expect(result).toBe('3');
    expect(notes).toEqual([expect.stringMatching(/^saved for this session only: .*settings\.local\.json/)]);
    expect(readFileSync(path, 'utf8')).toBe('{ broken');
  });
});

describe('session links', () => {
  /**
   * `real/keys/id` with the links `home` → `real`, `work/vault` → `real/keys` and `work/.env` → `work/config/env`;
   * sessions run in `work`, at home in `home`.
   */
  async function linkedPlace() {
    const root = await realpath(await temporaryRoot());
    const path = (name: string) => join(root, name);
    for (const name of ['real/keys', 'real/notes', 'work/config'])
      await mkdir(path(name), { recursive: true });
    await writeFile(path('real/keys/id'), 'needle secret\n');
    await writeFile(path('real/notes/a'), 'needle note\n');
    await writeFile(path('work/config/env'), 'needle secret\n');
    await symlink('real', path('home'));
    await symlink(path('real/keys'), path('work/vault'));
    await symlink('config/env', path('work/.env'));
    const workspace = { cwd: path('work'), home: path('home'), directories: [] };
    return { path, workspace };
  }

  type Place = Awaited<ReturnType<typeof linkedPlace>>;

  /** The result of each call; a permission request is answered with a denial with the text "asked". */
  async function outcomes(
    place: Place,
    rules: readonly Rule[],
    calls: readonly ReturnType<typeof toolUse>[],
  ) {
    const { query, model } = drive(
      [together(...calls), text('ok')],
      { canUseTool: async () => ({ behavior: 'deny', message: 'asked' }) },
      { builtIns: ['Read', 'Write', 'Grep', 'Glob'], workspace: place.workspace, rules },
    );
    await collect(query);
    return results(model.requests[1]);
  }

  const read = (path: string, id = 't1') => toolUse('Read', { file_path: path }, id);

  test.each([
    ['in a home directory that is a link', 'Read(~/keys/**)', 'real/keys/id'],
    ['in a home directory that is a link, by its own name', 'Read(~/keys/**)', 'home/keys/id'],
    ['a file in a home directory that is a link', 'Read(~/keys/id)', 'real/keys/id'],
    ['all of a home directory that is a link', 'Read(~/**)', 'real/keys/id'],
    ['with a wildcard below the link', 'Read(~/k*/i?)', 'real/keys/id'],
    ['at any depth below the link', 'Read(~/**/id)', 'real/keys/id'],
    ['below an absolute path that leads through a link', 'Read(//{root}/home/keys/**)', 'real/keys/id'],
    ['below a link in the workspace', 'Read(vault/**)', 'real/keys/id'],
    ['a file by the name of a link, at any depth', 'Read(.env)', 'work/config/env'],
    ['a file by the name of a link', 'Read(./.env)', 'work/config/env'],
    ['a file by the name of a link, through the link', 'Read(./.env)', 'work/.env'],
  ])('a deny rule for a path that is %s applies to the real path', async (_, rule, file) => {
    const place = await linkedPlace();
    const rules = deny(rule.replace('//{root}', `/${place.path('')}`));
    const { t1 } = await outcomes(place, rules, [read(place.path(file))]);
    expect(t1).toMatch(/^!deny rule/);
  });

  test('a deny rule through a link holds for files that do not exist yet', async () => {
    const place = await linkedPlace();
    const write = toolUse('Write', { file_path: place.path('real/keys/new/key'), content: 'x' }, 't1');
    const { t1 } = await outcomes(place, deny('Edit(~/keys/new/**)'), [write]);
    expect(t1).toMatch(/^!deny rule/);
  });

  test('an ask rule through a link applies to the real path and wins over allow rules', async () => {
    const place = await linkedPlace();
    const rules = [...asks('Read(~/keys/**)'), ...allow('Read')];
    const { t1 } = await outcomes(place, rules, [read(place.path('real/keys/id'))]);
    expect(t1).toBe('!asked');
  });

  test('searches above the real path omit files that a deny rule through a link covers', async () => {
    const place = await linkedPlace();
    const rules = [...deny('Read(~/keys/**)', 'Read(.env)'), ...allow('Grep', 'Glob')];
    const searched = await outcomes(place, rules, [
      toolUse('Grep', { pattern: 'needle', output_mode: 'content', path: place.path('') }, 'grep'),
      toolUse('Glob', { pattern: '**/*', path: place.path('') }, 'glob'),
      toolUse('Grep', { pattern: 'needle', path: place.path('real/keys') }, 'denied'),
    ]);
    expect(searched).toMatchObject({
      grep: expect.stringContaining('needle note'),
      glob: expect.stringContaining('notes/a'),
    });
    expect(`${searched.grep}${searched.glob}`).not.toMatch(/keys\/id|needle secret|config\/env/);
    expect(searched.denied).not.toContain('id');
  });

  test('an allow rule for the home directory holds where that is a link', async () => {
    const place = await linkedPlace();
    const { t1, t2 } = await outcomes(place, allow('Read(~/notes/**)'), [
      read('~/notes/a', 't1'),
      read(place.path('real/notes/a'), 't2'),
    ]);
    expect([t1, t2]).toEqual([expect.stringContaining('needle'), expect.stringContaining('needle')]);
  });

  test('a link in the workspace does not widen an allow rule', async () => {
    const place = await linkedPlace();
    const { t1, t2 } = await outcomes(place, allow('Read(./vault/**)', 'Read(./**)'), [
      read('vault/id', 't1'),
      read(place.path('real/keys/id'), 't2'),
    ]);
    expect([t1, t2]).toEqual(['!asked', '!asked']);
  });

  test('a deny rule through a link covers no other files', async () => {
    const place = await linkedPlace();
    const rules = [...deny('Read(~/keys/**)', 'Read(./.env)'), ...allow('Read')];
    const { t1, t2 } = await outcomes(place, rules, [
      read(place.path('real/notes/a'), 't1'),
      read(place.path('home/notes/a'), 't2'),
    ]);
    expect([t1, t2]).toEqual([expect.stringContaining('needle'), expect.stringContaining('needle')]);
  });
});
