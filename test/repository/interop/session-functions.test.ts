import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { loadPackage } from '../../../interop/compare.ts';
import { options } from '../../../interop/program.ts';
import type * as toolplane from '../../../src/entry/index.ts';
import { sessionOf, TRANSCRIPTS, textOf, uuid } from '../../sessions/transcripts.ts';
import { collect } from '../../support/collect.ts';
import { text, together, toolUse } from '../../support/model-api/model-reply.ts';
import { type CliSandbox, openCliSandbox } from '../../support/real-cli.ts';

// The session functions of both packages on the same files, which the real CLI or this table wrote.

type Package = typeof toolplane;

let official: Package;
let ours: Package;
let world: CliSandbox;
let projects: string;

beforeAll(async () => {
  world = await openCliSandbox([
    together(
      toolUse('Write', { file_path: 'a.txt', content: 'one\n' }),
      toolUse('Write', { file_path: 'b.txt', content: 'two\n' }),
    ),
    text('Written.'),
    text('Resumed.'),
    text('Continued.'),
  ]);
  const config = join(world.home, '.claude');
  projects = join(config, 'projects');
  vi.stubEnv('CLAUDE_CONFIG_DIR', config);
  vi.stubEnv('TOOLPLANE_HOME', join(world.home, '.toolplane'));
  official = (await loadPackage('official')) as unknown as Package;
  ours = (await loadPackage('ours')) as unknown as Package;
  await mkdir(join(projects, '-home-ada-x'), { recursive: true });
  for (const [at, name] of Object.keys(TRANSCRIPTS).entries()) {
    const path = join(projects, '-home-ada-x', `${sessionOf(name)}.jsonl`);
    await writeFile(path, textOf(name));
    await utimes(path, 1_700_000_000 + at, 1_700_000_000 + at);
  }
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await world[Symbol.asyncDispose]();
});

const each = async (use: (it: Package) => Promise<unknown>) => {
  const settle = (it: Package) => use(it).catch((error: Error) => ({ error: error.message }));
  return { official: await settle(official), ours: await settle(ours) };
};

test.each(Object.keys(TRANSCRIPTS))('%s: the same info and messages', async (name) => {
  const id = sessionOf(name);
  const read = await each(async (it) => ({
    info: await it.getSessionInfo(id),
    messages: await it.getSessionMessages(id),
    all: await it.getSessionMessages(id, { includeSystemMessages: true }),
  }));
  expect(read.ours).toEqual(read.official);
});

test.each<[string, Parameters<Package['listSessions']>[0]]>([
  ['all', {}],
  ['a project', { dir: '/home/ada/x' }],
  ['another project', { dir: '/home/ada/y' }],
  ['an empty directory name', { dir: '' }],
  ['a page', { limit: 3, offset: 2 }],
  ['limit 0', { limit: 0 }],
  ['negative numbers', { limit: -1, offset: -1 }],
  ['without programs', { includeProgrammatic: false }],
])('listSessions: %s', async (_, given) => {
  const listed = await each((it) => it.listSessions(given));
  expect(listed.ours).toEqual(listed.official);
});

const NONE = uuid(1);

test.each<[string, (it: Package) => Promise<unknown>]>([
  ['an id that is a path', (it) => it.getSessionInfo('../x')],
  ['messages of a path', (it) => it.getSessionMessages('../x')],
  ['messages of no session', (it) => it.getSessionMessages(NONE)],
  ['null as options', (it) => it.getSessionMessages(sessionOf('two turns'), null as never)],
  ['null as options of a list', (it) => it.listSessions(null as never)],
  ['sub-agents of a path', (it) => it.listSubagents('..')],
  ['a sub-agent that is a path', (it) => it.getSubagentMessages(sessionOf('two turns'), '../../x')],
  ['renaming a path', (it) => it.renameSession('../x', 'title')],
  ['renaming no session', (it) => it.renameSession(NONE, 'title')],
  [
    'renaming in another project',
    (it) => it.renameSession(sessionOf('two turns'), 't', { dir: '/home/ada/y' }),
  ],
  ['a blank title', (it) => it.renameSession(sessionOf('two turns'), '  ')],
  ['a blank tag', (it) => it.tagSession(sessionOf('two turns'), ' \u200b')],
  ['archiving no session', (it) => it.archiveSession(NONE)],
  ['forking a path', (it) => it.forkSession('../x')],
  ['forking in another project', (it) => it.forkSession(sessionOf('two turns'), { dir: '/home/ada/y' })],
  ['forking up to no message', (it) => it.forkSession(sessionOf('two turns'), { upToMessageId: uuid(77) })],
  ['deleting a path', (it) => it.deleteSession('../x')],
  ['deleting no session', (it) => it.deleteSession(NONE)],
])('%s: the same answer', async (_, use) => {
  const answers = await each(use);
  expect(answers.ours).toEqual(answers.official);
});

describe('changes', () => {
  const id = sessionOf('tags');
  const linesOf = async (session: string) => {
    const lines = (await readFile(join(projects, '-home-ada-x', `${session}.jsonl`), 'utf8'))
      .trim()
      .split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  test('titles, tags and archive marks are written as the official package writes them', async () => {
    const written = await each(async (it) => {
      await it.renameSession(id, ' A title ');
      await it.tagSession(id, ' a\u200b tag ');
      const tagged = await it.getSessionInfo(id);
      await it.tagSession(id, null);
      await it.archiveSession(id, { dir: '/home/ada/x' });
      const archived = await it.getSessionInfo(id);
      await it.unarchiveSession(id);
      const infos = [tagged, archived, await it.getSessionInfo(id)];
      await rm(join(projects, '-home-ada-x', id), { recursive: true });
      return { infos: infos.map(steady), lines: (await linesOf(id)).slice(-3) };
    });
    expect(written.ours).toEqual(written.official);
  });

  test.each([
    'two branches',
    'two calls at once',
    'a sub-agent inside',
    'progress in between',
    'system messages',
    'a compaction',
    'a generated title',
    'a summary',
    'no prompt',
  ])('forks are copies as the official package makes them: %s', async (name) => {
    const forked = await each(async (it) => {
      const { sessionId } = await it.forkSession(sessionOf(name));
      const copy = { lines: await linesOf(sessionId), info: steady(await it.getSessionInfo(sessionId)) };
      await it.deleteSession(sessionId);
      return renamed(copy, sessionId);
    });
    expect(forked.ours).toEqual(forked.official);
  });

  const steady = (info: object | undefined) => ({ ...info, lastModified: 0, fileSize: 0 });

  /** Replaces new ids by numbers, in the order in which they occur, and times of today. */
  function renamed(value: object, session: string): unknown {
    const ids = new Map([[session, 'fork']]);
    const known = (found: string) => {
      if (found.startsWith('00000000')) return found;
      if (!ids.has(found)) ids.set(found, `id ${ids.size}`);
      return ids.get(found) as string;
    };
    const plain = JSON.stringify(value).replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, known);
    return JSON.parse(
      plain
        .replaceAll(/"(?!2026-01-01)\d{4}-\d\d-\d\dT[^"]*"/g, '"now"')
        .replaceAll(/"createdAt":\d+/g, '"createdAt":0'),
    );
  }
});

test('a session of the real CLI: read by both, renamed and forked by ours, the fork resumed by the CLI and by ours', async () => {
  const run = async (more: object = {}) => {
    const allowed = { tools: ['Write'], allowedTools: ['Write'], permissionMode: 'acceptEdits' as const };
    const query = ours.query({
      prompt: 'Write them.',
      options: { ...options(world), ...allowed, ...more } as never,
    });
    return (await collect(query)).find(({ type }) => type === 'result');
  };
  const id = (await run())?.session_id as string;
  const read = await each(async (it) => ({
    info: await it.getSessionInfo(id, { dir: world.cwd }),
    listed: (await it.listSessions({ dir: world.cwd })).map(({ sessionId }) => sessionId),
    messages: await it.getSessionMessages(id),
    part: await it.getSessionMessages(id, { limit: 2, offset: 1 }),
  }));
  expect(read.ours).toEqual(read.official);
  expect(read.ours).toMatchObject({ info: { firstPrompt: 'Write them.' }, listed: [id] });
  await ours.renameSession(id, 'Renamed');
  expect(await official.getSessionInfo(id)).toMatchObject({ customTitle: 'Renamed', summary: 'Renamed' });
  const { sessionId } = await ours.forkSession(id);
  expect(await run({ resume: sessionId })).toMatchObject({ session_id: sessionId, result: 'Resumed.' });
  expect(JSON.stringify(world.api.requests.at(-1)?.messages)).toContain('Written.');
  const [, ...ofCli] = spoken(world.api.requests.at(-1)?.messages);
  const own = { pathToClaudeCodeExecutable: undefined, resume: sessionId };
  expect(await run(own)).toMatchObject({ session_id: sessionId, result: 'Continued.' });
  // The model gets what the CLI has sent it, and the prompt and reply since then.
  expect(spoken(world.api.requests.at(-1)?.messages).slice(1, ofCli.length + 1)).toEqual(ofCli);
  expect(await ours.listSessions({ dir: world.cwd })).toMatchObject([{ sessionId }, { sessionId: id }]);
  expect(await ours.getSessionMessages(sessionId)).toMatchObject([
    ...(await official.getSessionMessages(sessionId)).map(({ uuid }) => ({ uuid })),
    { type: 'user' },
    { type: 'assistant' },
  ]);
  await ours.deleteSession(id);
  expect(await official.getSessionInfo(id)).toBeUndefined();
  expect(await official.getSessionInfo(sessionId)).toMatchObject({ customTitle: 'Renamed (fork)' });
});

test('sub-agents of our own agent are stored as those of the real CLI', async () => {
  await using place = await openCliSandbox(({ messages, tools }) => {
    const asked = JSON.stringify(messages);
    const delegate = tools?.find(({ name }) => name === 'Agent' || name === 'Task')?.name;
    if (delegate === undefined) {
      return asked.includes('tool_result') ? text('Found.') : toolUse('Bash', { command: 'echo hi' }, 'bash');
    }
    const input = { description: 'look up', prompt: 'Find it.', subagent_type: 'finder' };
    return asked.includes('tool_result') ? text('Done.') : toolUse(delegate, input, 'task');
  });
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(place.home, '.claude'));
  vi.stubEnv('TOOLPLANE_HOME', join(place.home, '.toolplane'));
  const agents = { finder: { description: 'finds', prompt: 'You find.', tools: ['Bash'] } };
  const tools = { tools: ['Agent', 'Task', 'Bash'], allowedTools: ['Agent', 'Task', 'Bash'] };
  const stored = async (it: Package, more: object) => {
    const given = { ...options(place), ...tools, agents, ...more } as never;
    const messages = await collect(it.query({ prompt: 'Delegate.', options: given }));
    const id = messages.find(({ type }) => type === 'result')?.session_id as string;
    const [agent, ...others] = await it.listSubagents(id);
    expect(others).toEqual([]);
    const found = await it.getSubagentMessages(id, agent as string);
    return found.map(({ message, session_id, uuid: _, ...rest }) => {
      const { role, content, stop_reason } = message as Record<string, unknown>;
      expect(session_id).toBe(id);
      return {
        ...rest,
        timestamp: typeof (rest as { timestamp?: string }).timestamp,
        role,
        content,
        stop_reason,
      };
    });
  };
  const ofCli = await stored(official, {});
  expect(ofCli).toHaveLength(4);
  expect(await stored(ours, { pathToClaudeCodeExecutable: undefined })).toEqual(ofCli);
});

/** The messages of a request as texts, without the reminders of the CLI. */
function spoken(messages: unknown): string[] {
  const all = (messages ?? []) as { role: string; content: string | Record<string, unknown>[] }[];
  return all
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const said = blocks.filter(({ text }) => !String(text).startsWith('<system-reminder>'));
      const kept = said.map(({ cache_control: _, ...block }) => JSON.stringify(block));
      return `${role}: ${kept.join()}`;
    });
}
