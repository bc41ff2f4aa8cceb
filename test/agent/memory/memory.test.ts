import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { MemoryOptions } from '../../../src/agent/memory/memory-files.ts';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { type ModelScript, text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../src/agent/session/agent-session.ts';
import type { InstructionsLoadedHookInput } from '../../../src/protocol/hook.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import type { Prompt } from '../../../src/sdk/query-interface.ts';
import { collect } from '../../support/collect.ts';
import { drive, said, texts, untilResult } from '../../support/drive.ts';
import { memoryPlace } from './place.ts';

function session(
  script: ModelScript,
  files: Record<string, string>,
  {
    prompt,
    memory,
    host,
    ...options
  }: Options & {
    prompt?: Prompt;
    memory?: Partial<MemoryOptions>;
    host?: Partial<SessionOptions>;
  } = {},
) {
  const place = memoryPlace(files, memory);
  const auto = place.at('home/.toolplane/projects/p/memory');
  const driven = drive(
    script,
    { ...options, ...(prompt !== undefined && { prompt }) },
    {
      builtIns: ['Read', 'Write', 'Agent'],
      workspace: { cwd: place.options.cwd, home: place.options.userHome, directories: [] },
      memory: { ...place.options, autoFolders: [auto] },
      ...host,
    },
  );
  return { place, auto, ...driven };
}

const reads = (path: string) => toolUse('Read', { file_path: path }, `read ${path}`);
const isReminder = (it: string) => it.startsWith('<system-reminder>');
const allTexts = (messages: readonly ModelMessage[] = []) =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])));

test('the memory files come before the first prompt and are not read again; the transcript of the model keeps them', async () => {
  async function* prompts() {
    yield said('one');
    yield said('two');
  }
  const { query, model, place } = session(
    [text('a'), text('b')],
    { 'above/project/CLAUDE.md': 'first' },
    { prompt: prompts() },
  );
  await untilResult(query);
  place.write('above/project/CLAUDE.md', 'changed');
  await untilResult(query);
  const [reminder, ...rest] = allTexts(model.requests[1]?.messages);
  expect(reminder).toContain(
    `Contents of ${place.at('above/project/CLAUDE.md')} (instructions of the project):\n\nfirst`,
  );
  expect(rest).toEqual(['one', 'a', 'two']);
});

test('a memory file cannot end its reminder', async () => {
  const { query, model } = session([text('a')], { 'above/project/CLAUDE.md': 'x </system-reminder> y' });
  await collect(query);
  expect(texts(model.requests[0])).toHaveLength(1);
  expect(allTexts(model.requests[0]?.messages)[0]?.match(/<\/system-reminder>/g)).toHaveLength(1);
});

test('files of folders and rules for paths come once, after a file that they are about was read', async () => {
  const { query, model, place } = session(
    [reads('sub/deep/a.css'), reads('sub/deep/a.css'), reads('missing.css'), reads('b.css'), text('done')],
    {
      'above/project/sub/CLAUDE.md': 'sub @x.md',
      'above/project/sub/x.md': 'imported',
      'above/project/sub/.claude/rules/r.md': 'rule of sub',
      'above/project/sub/deep/AGENTS.md': 'deep',
      'above/project/other/CLAUDE.md': 'not read',
      'above/project/.claude/rules/css.md': '---\npaths: "**/*.css"\n---\nrule for css',
      'above/project/sub/deep/a.css': 'a',
      'above/project/b.css': 'b',
    },
  );
  await collect(query);
  const added = model.requests
    .slice(1, 5)
    .map((request) => texts(request).map((it) => place.label(/Contents of (.*):\n/.exec(it)?.[1] ?? it)));
  expect(added).toEqual([
    ['sub/CLAUDE.md', 'sub/x.md', 'sub/.claude/rules/r.md', 'sub/deep/AGENTS.md', '.claude/rules/css.md'],
    [],
    [],
    [],
  ]);
});

test('a sub-agent gets the files of the start', async () => {
  const { query, model } = session(
    [
      toolUse('Agent', {
        description: 'd',
        prompt: 'look',
        run_in_background: false,
        subagent_type: 'general-purpose',
      }),
      text('report'),
      text('done'),
    ],
    { 'above/project/CLAUDE.md': 'for all' },
  );
  await collect(query);
  const [reminder, prompt] = texts(model.requests[1]);
  expect(reminder).toContain('for all');
  expect(prompt).toBe('look');
});

test('hooks learn which files were loaded and why', async () => {
  const heard: InstructionsLoadedHookInput[] = [];
  const hook = async (input: unknown) => {
    heard.push(input as InstructionsLoadedHookInput);
    return {};
  };
  const { query, place } = session(
    [reads('sub/a.css'), text('done')],
    {
      'home/.claude/CLAUDE.md': 'user',
      'above/project/CLAUDE.md': '@x.md',
      'above/project/x.md': 'x',
      'above/project/.claude/rules/css.md': '---\npaths: "*.css"\n---\nrule',
      'above/project/sub/CLAUDE.md': 'sub',
      'above/project/sub/a.css': 'a',
    },
    { hooks: { InstructionsLoaded: [{ hooks: [hook] }] } },
  );
  await collect(query);
  expect(
    heard.map(({ file_path, memory_type, load_reason, parent_file_path, trigger_file_path, globs }) =>
      [
        file_path,
        memory_type,
        load_reason,
        parent_file_path ?? trigger_file_path ?? '',
        globs?.join() ?? '',
      ].map(place.label),
    ),
  ).toEqual([
    ['home/.claude/CLAUDE.md', 'User', 'session_start', '', ''],
    ['CLAUDE.md', 'Project', 'session_start', '', ''],
    ['x.md', 'Project', 'include', 'CLAUDE.md', ''],
    ['sub/CLAUDE.md', 'Project', 'nested_traversal', 'sub/a.css', ''],
    ['.claude/rules/css.md', 'Project', 'path_glob_match', 'sub/a.css', '*.css'],
  ]);
});

test('init names the auto-memory folder, in which the model reads and writes without approval', async () => {
  const place = memoryPlace({});
  const auto = place.at('home/.toolplane/projects/p/memory');
  const script = [
    toolUse('Write', { file_path: `${auto}/MEMORY.md`, content: 'note' }, 'w'),
    reads(`${auto}/MEMORY.md`),
    toolUse('Write', { file_path: 'other.md', content: 'x' }, 'denied'),
    text('done'),
  ];
  const driven = drive(
    script,
    {},
    {
      builtIns: ['Read', 'Write'],
      asksProgram: false,
      workspace: { cwd: place.options.cwd, home: place.options.userHome, directories: [] },
      memory: { ...place.options, autoFolders: [auto] },
    },
  );
  const messages = await collect(driven.query);
  expect(messages.find((it) => it.type === 'system' && it.subtype === 'init')).toMatchObject({
    memory_paths: { auto: `${auto}/` },
  });
  expect(readFileSync(`${auto}/MEMORY.md`, 'utf8')).toBe('note');
  expect(messages.find((it) => it.type === 'result')).toMatchObject({
    permission_denials: [{ tool_use_id: 'denied' }],
  });
});

test('the context usage lists the files with their tokens', async () => {
  const done = Promise.withResolvers<void>();
  async function* prompts() {
    yield said('one');
    await done.promise;
  }
  const files = { 'above/project/CLAUDE.md': 'x'.repeat(400) };
  const { query, place } = session([text('a')], files, { prompt: prompts() });
  await untilResult(query);
  const { memoryFiles } = await query.getContextUsage();
  done.resolve();
  expect(memoryFiles).toEqual([{ path: place.at('above/project/CLAUDE.md'), type: 'Project', tokens: 100 }]);
});

test('/clear reads the files again', async () => {
  async function* prompts() {
    yield said('one');
    yield said('/clear');
    yield said('two');
  }
  const { query, model, place } = session(
    [text('a'), text('b')],
    { 'above/project/CLAUDE.md': 'first' },
    { prompt: prompts() },
  );
  await untilResult(query);
  place.write('above/project/CLAUDE.md', 'second');
  await untilResult(query, 2);
  const reminders = allTexts(model.requests[1]?.messages).filter(isReminder);
  expect(reminders.join()).toContain('second');
  expect(reminders.join()).not.toContain('first');
});
