import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/agent/models/model.ts';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../src/agent/session/session.ts';
import { DefinitionFiles, type DefinitionRoot } from '../../../src/agent/skills/definition-files.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { collect } from '../../support/collect.ts';
import { allow, deny, drive, resultOf, results, said, untilResult } from '../../support/drive.ts';
import { gate } from '../../support/gate.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

/** All texts since the last reply; reminders are in a message of their own. */
function texts(request: ModelRequest | undefined): string[] {
  const { messages = [] } = request ?? {};
  const last = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return last.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : content.flatMap((it) => (it.type === 'text' ? [it.text] : [])),
  );
}

type Files = Readonly<Record<string, string>>;

/** A project, a user's folder and a plugin with files; `approved` are the texts that the user has approved. */
async function place(files: Files) {
  const root = await realpath(await temporaryRoot());
  const put = (more: Files) => {
    for (const [path, content] of Object.entries(more)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
  };
  mkdirSync(join(root, 'work'), { recursive: true });
  put(files);
  const cwd = join(root, 'work');
  const roots: DefinitionRoot[] = [
    { scope: 'plugin', plugin: 'plug', directory: join(root, 'plug'), within: join(root, 'plug') },
    { scope: 'user', directory: join(root, 'home') },
    { scope: 'project', directory: join(cwd, '.claude'), within: cwd },
  ];
  const notes: string[] = [];
  const host = (more: { approved?: boolean; style?: string } & Partial<SessionOptions> = {}) => {
    const { approved = false, style, ...options } = more;
    return {
      builtIns: ['Skill', 'Bash', 'Read', 'Agent'],
      workspace: { cwd, home: root, directories: [] },
      resultsDirectory: join(root, 'results'),
      note: (it: string) => void notes.push(it),
      definitions: {
        context: { cwd, userHome: root },
        roots: () => roots,
        isApproved: () => approved,
        outputStyle: () => style,
      },
      ...options,
    };
  };
  return { root, cwd, put, host, notes, roots };
}

const ALLOWING = '---\ndescription: Allows\nallowed-tools: Bash(touch:*)\n---\nBody\n';
const TOUCH = toolUse('Bash', { command: 'touch made' }, 't2');
const yes: Options = { canUseTool: async () => ({ behavior: 'allow' }) };

describe('the Skill tool', () => {
  test('the model gets names and descriptions first, and the text when it uses a skill', async () => {
    const { host, cwd } = await place({
      'work/.claude/skills/hello/SKILL.md': '---\ndescription: Says hello\n---\nHello $0\n',
      'work/.claude/commands/deep/dive.md': 'Dive\n',
      'home/skills/mine/SKILL.md': '---\ndescription: Mine\ndisable-model-invocation: true\n---\nx',
      'plug/skills/ps/SKILL.md': '---\ndescription: Of a plugin\n---\nx',
    });
    const { query, model } = drive(
      [toolUse('Skill', { skill: 'hello', args: 'Ann' }, 't1'), text('ok')],
      {},
      host(),
    );
    const messages = await collect(query);
    expect(texts(model.requests[0])[0]).toBe(
      '<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n' +
        '- hello: Says hello\n- deep:dive: Dive\n- plug:ps: Of a plugin\n</system-reminder>',
    );
    expect(results(model.requests[1])).toEqual({ t1: 'Launching skill: hello' });
    const body = `Base directory for this skill: ${cwd}/.claude/skills/hello\n\nHello Ann\n`;
    expect(texts(model.requests[1]).at(-1)).toBe(body);
    const users = messages.filter((it) => it.type === 'user');
    expect(users).toMatchObject([
      { tool_use_result: { success: true, commandName: 'hello' } },
      { isSynthetic: true, message: { content: [{ type: 'text', text: body }] } },
    ]);
    expect(resultOf(messages)).toMatchObject({ num_turns: 3 });
    expect(messages[0]).toMatchObject({ skills: ['hello', 'mine', 'plug:ps'] });
  });

  test.each([
    ['unknown', {}, 'Unknown skill: helo. Did you mean hello?', 'helo'],
    ['hidden from the model', {}, 'disable-model-invocation', 'hidden'],
    ['not selected by the program', { skills: ['hidden'] }, 'not in this session', 'hello'],
  ])('a skill that is %s is refused', async (_, options: Options, expected, skill) => {
    const { host } = await place({
      'work/.claude/skills/hello/SKILL.md': 'x',
      'work/.claude/skills/hidden/SKILL.md': '---\ndisable-model-invocation: true\n---\nx',
    });
    const { query, model } = drive([toolUse('Skill', { skill }, 't1'), text('ok')], options, host());
    await collect(query);
    expect(results(model.requests[1]).t1).toContain(expected);
  });

  test('calls that a user’s skill allows run without a prompt until the turn ends', async () => {
    const { host, cwd } = await place({ 'home/skills/a/SKILL.md': ALLOWING });
    const asked: string[] = [];
    const canUseTool: Options['canUseTool'] = async (name) => {
      asked.push(name);
      return name === 'Skill' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' };
    };
    const second = gate();
    async function* prompts() {
      yield said('one');
      await second.pass();
      yield said('two');
    }
    const { query, model } = drive(
      [
        toolUse('Skill', { skill: 'a' }, 't1'),
        TOUCH,
        text('ok'),
        toolUse('Bash', { command: 'touch more' }, 't3'),
        text('ok'),
      ],
      { prompt: prompts(), canUseTool },
      host(),
    );
    await untilResult(query);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    second.open();
    await collect(query);
    expect(asked).toEqual(['Skill', 'Bash']);
    expect(results(model.requests[4]).t3).toBe('!no');
  });

  test.each([
    ['without approval, by a rule for the skill', { approved: false, rules: allow('Skill') }, false],
    ['after approval of the file', { approved: true, rules: allow('Skill') }, true],
    [
      'unless a rule denies it',
      { approved: true, rules: [...allow('Skill'), ...deny('Bash(touch:*)')] },
      false,
    ],
  ])('a skill of the project allows calls %s: %s', async (_, given, expected) => {
    const { host, cwd } = await place({ 'work/.claude/skills/a/SKILL.md': ALLOWING });
    const { query } = drive(
      [toolUse('Skill', { skill: 'a' }, 't1'), TOUCH, text('ok')],
      {},
      host({ ...given, asksProgram: false }),
    );
    await collect(query);
    expect(existsSync(join(cwd, 'made'))).toBe(expected);
  });

  test('a person who allows the call of a project’s skill allows what it lists', async () => {
    const { host, cwd } = await place({ 'work/.claude/skills/a/SKILL.md': ALLOWING });
    const reasons: unknown[] = [];
    const { query } = drive(
      [toolUse('Skill', { skill: 'a' }, 't1'), TOUCH, text('ok')],
      {
        canUseTool: async (name, _, { decisionReason, suggestions }) => {
          reasons.push([name, decisionReason, suggestions?.length]);
          return { behavior: 'allow' };
        },
      },
      host(),
    );
    await collect(query);
    expect(reasons).toEqual([['Skill', 'the skill a allows Bash(touch:*) for the rest of the turn', 2]]);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
  });

  test('a forked skill runs in a sub-agent with its rules, and returns the report', async () => {
    const { host, cwd } = await place({
      'home/skills/f/SKILL.md': ALLOWING.replace('---\nBody', 'context: fork\n---\nBody $ARGUMENTS'),
    });
    const { query, model } = drive(
      [toolUse('Skill', { skill: 'f', args: 'abc' }, 't1'), TOUCH, text('report'), TOUCH, text('ok')],
      {
        canUseTool: async (name) =>
          name === 'Skill' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' },
      },
      host(),
    );
    const messages = await collect(query);
    expect(texts(model.requests[1])[0]).toMatch(/Body abc/);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(results(model.requests[3]).t1).toBe('Skill "f" completed (forked execution).\n\nResult:\nreport');
    expect(results(model.requests[4]).t2).toBe('!no');
    const tasks = messages.filter((it) => it.type === 'system' && /^task_/.test(it.subtype));
    expect(tasks).toMatchObject([
      { subtype: 'task_started', ambient: true, description: '/f' },
      { subtype: 'task_notification', ambient: true, summary: '/f', status: 'completed' },
    ]);
  });

  test('the model of a skill is used for the rest of the turn', async () => {
    const { host } = await place({ 'home/skills/m/SKILL.md': '---\nmodel: other\n---\nx' });
    const { query, model } = drive(
      [toolUse('Skill', { skill: 'm' }, 't1'), text('ok')],
      yes,
      host({ resolveModelName: (name) => `${name}-1` }),
    );
    const messages = await collect(query);
    expect(model.requests.map((it) => it.model)).toEqual(['m', 'other-1']);
    expect(Object.keys((resultOf(messages) as { modelUsage: object }).modelUsage)).toEqual(['m', 'other-1']);
  });
});

describe('slash commands of files', () => {
  const run = async (
    prompt: string,
    files: Files,
    more: Parameters<Awaited<ReturnType<typeof place>>['host']>[0] = {},
  ) => {
    const it = await place(files);
    const { query, model } = drive([text('ok'), text('ok')], { prompt }, it.host(more));
    const messages = await collect(query);
    return { ...it, messages, model, prompt: texts(model.requests[0]) };
  };

  test('the command comes before its text', async () => {
    const { prompt, messages } = await run('/greet Ann "Bob C"', {
      'work/.claude/commands/greet.md': '---\narguments: who what\n---\nGreet $who with $what.\n',
    });
    expect(prompt.slice(-2)).toEqual([
      '<command-message>greet</command-message>\n<command-name>/greet</command-name>\n<command-args>Ann "Bob C"</command-args>\n',
      'Greet Ann with Bob C.\n',
    ]);
    expect(resultOf(messages)).toMatchObject({ result: 'ok', num_turns: 1 });
  });

  test('an unknown command is a prompt with a reminder; a path is an ordinary prompt', async () => {
    const { prompt } = await run('/nope a', { 'work/.claude/commands/x.md': 'x' });
    expect(prompt.some((it) => /slash command \/nope\..*\/x/.test(it))).toBe(true);
    expect(prompt.at(-1)).toBe('/nope a');
    const path = await run('/usr/bin is a folder', {});
    expect(path.prompt).toEqual(['/usr/bin is a folder']);
  });

  test('a skill that is not for users is refused without a request to the model', async () => {
    const { messages, model } = await run('/m', {
      'work/.claude/skills/m/SKILL.md': '---\nuser-invocable: false\n---\nx',
    });
    expect(model.requests).toEqual([]);
    expect(resultOf(messages)).toMatchObject({
      subtype: 'success',
      num_turns: 0,
      local_command: 'custom',
      result: expect.stringContaining('can only be invoked by the model'),
    });
  });

  test('commands in the text: of a user’s file what only reads or is allowed, of a project’s file only after approval', async () => {
    const command = (line: string, tools = '') => `---\ndescription: d\n${tools}---\nOut: !\`${line}\` end`;
    const user = await run('/c', { 'home/commands/c.md': command('echo hi') });
    expect(user.prompt.at(-1)).toBe('Out: hi end');
    const without = await run('/c', { 'home/commands/c.md': command('echo hi') }, { builtIns: ['Skill'] });
    expect(resultOf(without.messages)).toMatchObject({ result: expect.stringContaining('Bash') });
    const refused = await run('/c', { 'home/commands/c.md': command('touch made') });
    expect(refused.model.requests).toEqual([]);
    expect(resultOf(refused.messages)).toMatchObject({
      num_turns: 0,
      result: expect.stringMatching(/^Shell command permission check failed for pattern "!`touch made`": /),
    });
    const allowed = await run('/c', {
      'home/commands/c.md': command(
        'touch made && echo done',
        'allowed-tools: Bash(touch:*), Bash(echo:*)\n',
      ),
    });
    expect(allowed.prompt.at(-1)).toBe('Out: done end');
    const project = { 'work/.claude/commands/c.md': command('touch made', 'allowed-tools: Bash(touch:*)\n') };
    const pending = await run('/c', project);
    expect(existsSync(join(pending.cwd, 'made'))).toBe(false);
    expect(resultOf(pending.messages)).toMatchObject({ result: expect.stringContaining('not approved') });
    const approved = await run('/c', project, { approved: true });
    expect(existsSync(join(approved.cwd, 'made'))).toBe(true);
    const failing = await run('/c', {
      'home/commands/c.md': command('cat missing', 'allowed-tools: Bash(cat:*)\n'),
    });
    expect(resultOf(failing.messages)).toMatchObject({ result: expect.stringContaining('exit code 1') });
  });

  test('an argument cannot extend an allowed command', async () => {
    const { cwd, messages } = await run('/c x; touch made', {
      'home/commands/c.md': '---\nallowed-tools: Bash(echo:*)\n---\n!`echo $ARGUMENTS`',
    });
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(resultOf(messages)).toMatchObject({ num_turns: 0 });
  });

  test('files that a command or a prompt names come before it, unless they are outside or a rule forbids them', async () => {
    const files = {
      'work/note.txt': 'a note\n',
      'work/.env': 'K=1',
      'secret.txt': 'x',
      'work/.claude/commands/c.md': 'See @note.txt',
    };
    const { prompt } = await run('/c', files);
    expect(prompt.filter((it) => it.includes('Read tool'))).toHaveLength(2);
    expect(prompt.some((it) => it.includes('1\ta note'))).toBe(true);
    const direct = await run('Compare @note.txt @.env @../secret.txt @missing', files, {
      rules: deny('Read(./.env)'),
    });
    expect(
      direct.prompt.filter((it) => it.startsWith('<system-reminder>\nCalled the Read tool')),
    ).toHaveLength(1);
  });

  test('a prompt that the program composed is left as it is', async () => {
    const { host } = await place({ 'work/.claude/commands/c.md': 'Body', 'work/n': 'x' });
    const { query, model } = drive([text('ok')], { prompt: '/c @n', verbatimPrompts: true }, host());
    await collect(query);
    expect(texts(model.requests[0]).at(-1)).toBe('/c @n');
    expect(texts(model.requests[0]).some((it) => it.includes('Read tool'))).toBe(false);
  });
});

describe('files', () => {
  test('new, changed and removed files count from the next prompt on', async () => {
    const { host, put, cwd } = await place({
      'work/.claude/skills/a/SKILL.md': '---\ndescription: A\n---\n1',
    });
    const next = [gate(), gate()];
    async function* prompts() {
      yield said('one');
      await next[0]?.pass();
      yield said('/b');
      await next[1]?.pass();
      yield said('/a');
    }
    const { query, model } = drive([text('1'), text('2'), text('3')], { prompt: prompts() }, host());
    await untilResult(query);
    put({
      'work/.claude/commands/b.md': 'New',
      'work/.claude/skills/a/SKILL.md': '---\ndescription: A2\n---\n2',
    });
    next[0]?.open();
    const second = await untilResult(query);
    expect(second.some((it) => it.type === 'system' && it.subtype === 'commands_changed')).toBe(true);
    expect(texts(model.requests[1]).at(-1)).toBe('New');
    expect(texts(model.requests[1]).some((it) => it.includes('- a: A2\n- b: New'))).toBe(true);
    rmSync(join(cwd, '.claude/skills'), { recursive: true });
    next[1]?.open();
    await collect(query);
    expect(texts(model.requests[2]).at(-1)).toBe('/a');
  });

  test('of files with the same name the user’s is used; links of a project do not lead out of it', async () => {
    const { roots, root, cwd, put } = await place({
      'home/skills/a/SKILL.md': 'user',
      'work/.claude/skills/a/SKILL.md': '---\nname: other\n---\nproject',
      'outside/SKILL.md': 'outside',
    });
    symlinkSync(join(root, 'outside'), join(cwd, '.claude/skills/link'));
    const files = new DefinitionFiles(() => roots, { cwd, userHome: root });
    const first = files.read();
    expect(first.files.map(({ text: content }) => content)).toEqual([
      'user',
      '---\nname: other\n---\nproject',
    ]);
    expect(first.problems).toEqual([
      { label: '.claude/skills/link/SKILL.md', message: expect.stringContaining('symbolic link') },
    ]);
    expect(files.read().hasChanged).toBe(false);
    put({ 'work/.claude/commands/x.md': 'x' });
    expect(files.read().hasChanged).toBe(true);
  });

  test('problems are reported once, with file and line', async () => {
    const { host, notes } = await place({
      'work/.claude/agents/bad.md': '---\ndescription: x\nwhat: 1\n---\n',
    });
    const { query } = drive([text('ok')], {}, host());
    await collect(query);
    expect(notes.filter((it) => it.startsWith('.claude/agents/bad.md'))).toEqual([
      '.claude/agents/bad.md:1: the file is ignored, because its frontmatter has no "name"',
    ]);
  });

  test('kinds of sub-agents: the project’s override the user’s, the program’s override both, and skills are preloaded', async () => {
    const agent = (name: string, description: string) =>
      `---\nname: ${name}\ndescription: ${description}\nskills: s, missing\n---\nYou are ${description}.`;
    const { host, notes } = await place({
      'home/agents/f.md': agent('finder', 'user'),
      'work/.claude/agents/deep/f.md': agent('finder', 'project'),
      'work/.claude/agents/o.md': agent('own', 'file'),
      'plug/agents/p.md': agent('pa', 'plugin'),
      'home/skills/s/SKILL.md': 'Skill text',
    });
    const { query, model } = drive(
      [
        toolUse(
          'Agent',
          { description: 'd', prompt: 'Find.', subagent_type: 'finder', run_in_background: false },
          't1',
        ),
        text('found'),
        text('ok'),
      ],
      { agents: { own: { description: 'program', prompt: 'p' } } },
      host(),
    );
    const messages = await collect(query);
    expect(messages[0]).toMatchObject({
      agents: ['claude', 'Explore', 'finder', 'general-purpose', 'own', 'Plan', 'plug:pa'],
    });
    const started = model.requests[1];
    expect(started?.system).toContain('You are project.');
    expect(texts(started)[0]).toBe('Find.');
    expect(texts(started)[2]).toContain('Skill text');
    expect(notes).toContain(
      'skill "missing" of the sub-agent "finder" is not loaded: no skill has this name; correct "skills" in its definition',
    );
  });

  test('the output style is sent with the first prompt and named later', async () => {
    const { host } = await place({
      'work/.claude/output-styles/p.md': '---\nname: Pirate\n---\nTalk like one.',
    });
    const second = gate();
    async function* prompts() {
      yield said('one');
      await second.pass();
      yield said('two');
    }
    const { query, model } = drive([text('1'), text('2')], { prompt: prompts() }, host({ style: 'Pirate' }));
    const messages = await untilResult(query);
    expect(messages[0]).toMatchObject({ output_style: 'Pirate' });
    second.open();
    await collect(query);
    expect(texts(model.requests[0])[0]).toBe(
      '<system-reminder>\n# Output Style: Pirate\nTalk like one.\n</system-reminder>',
    );
    expect(texts(model.requests[1])[0]).toContain('The output style Pirate is active');
  });
});
