import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../../src/agent/transcript/session-files.ts';
import { Transcript } from '../../src/agent/transcript/transcript.ts';
import type { NewEntry } from '../../src/agent/transcript/transcript-entry.ts';
import { type HookCallback, type Options, query } from '../../src/entry/index.ts';
import * as sessions from '../../src/sessions/session-functions.ts';
import { SESSION, temporaryRoot } from '../agent/transcript/sessions.ts';
import { openAgentSandbox } from '../cli/support/agent-sandbox.ts';
import { collect } from '../support/collect.ts';
import { text, together, toolUse } from '../support/model-api/model-reply.ts';
import { sessionOf, textOf, uuid } from './transcripts.ts';

// The interop test of the same name compares the functions with the official ones; these are about our own transcripts.

const CWD = '/home/ada/engine';
const usage = { input_tokens: 1, output_tokens: 2 };
const user = (n: number, content: string): NewEntry => ({
  type: 'user',
  uuid: uuid(n),
  content: [{ type: 'text', text: content }],
});
const reply = (n: number, content: string): NewEntry => ({
  type: 'assistant',
  uuid: uuid(n),
  content: [{ type: 'text', text: content }],
  model: 'm',
  usage,
});
const TURN = [user(1, 'What is it?'), reply(2, 'An engine.')];

async function stored(entries: readonly NewEntry[] = TURN, more: { entrypoint?: string } = {}) {
  const root = await temporaryRoot();
  const roots = { toolplane: join(root, 'toolplane'), claude: join(root, 'claude') };
  const place = { root: roots.toolplane, cwd: CWD, sessionId: SESSION };
  const now = () => new Date('2026-01-02T12:00:00.000Z');
  await using transcript = new Transcript({ ...place, ...more, now, onUnwritable: expect.unreachable });
  await transcript.append(entries);
  return { roots, path: transcript.path };
}

const texts = (messages: readonly { message: unknown }[]) =>
  messages.map(({ message }) => {
    const { content } = message as { content: string | { text?: string }[] };
    return typeof content === 'string' ? content : content.map((it) => it.text).join();
  });

test('a session of our own agent is listed with its title, prompt and directory', async () => {
  const { roots } = await stored([...TURN, { type: 'meta', title: 'Engines' }]);
  const info = {
    sessionId: SESSION,
    summary: 'Engines',
    customTitle: 'Engines',
    firstPrompt: 'What is it?',
    cwd: CWD,
    createdAt: Date.parse('2026-01-02T12:00:00Z'),
    lastModified: expect.any(Number),
    fileSize: expect.any(Number),
  };
  expect(await sessions.listSessions(roots)).toEqual([info]);
  expect(await sessions.listSessions(roots, { dir: `${CWD}/` })).toEqual([info]);
  expect(await sessions.listSessions(roots, { dir: '/home/ada' })).toEqual([]);
  expect(await sessions.getSessionInfo(roots, SESSION)).toEqual(info);
});

test('sessions of programs can be left out', async () => {
  const { roots } = await stored(TURN, { entrypoint: 'sdk-ts' });
  expect(await sessions.listSessions(roots)).toHaveLength(1);
  expect(await sessions.listSessions(roots, { includeProgrammatic: false })).toEqual([]);
});

test('its messages have the shape of the official function', async () => {
  const { roots } = await stored();
  const none = { session_id: SESSION, parent_tool_use_id: null, parent_agent_id: null };
  expect(await sessions.getSessionMessages(roots, SESSION)).toMatchObject([
    { ...none, type: 'user', uuid: uuid(1), message: { role: 'user' } },
    { ...none, type: 'assistant', uuid: uuid(2), message: { role: 'assistant', model: 'm', usage } },
  ]);
  expect(await sessions.listSubagents(roots, SESSION)).toEqual([]);
});

test('text that the user did not write is a message only on request', async () => {
  const { roots } = await stored([...TURN, { ...user(3, 'A server pushed this'), isMeta: true } as NewEntry]);
  expect(await sessions.getSessionMessages(roots, SESSION)).toHaveLength(2);
  const all = await sessions.getSessionMessages(roots, SESSION, {}, { meta: true });
  expect(all.slice(2)).toMatchObject([{ uuid: uuid(3), isMeta: true }]);
});

test('a compacted session starts with its summary; the boundary is a system message', async () => {
  const compaction: NewEntry = {
    type: 'compaction',
    trigger: 'auto',
    preTokens: 9,
    summary: 'In short',
    messages: [],
  };
  const { roots } = await stored([...TURN, compaction, user(3, 'And now?')]);
  expect(texts(await sessions.getSessionMessages(roots, SESSION))).toEqual(['In short', 'And now?']);
  const all = await sessions.getSessionMessages(roots, SESSION, { includeSystemMessages: true });
  expect(all.map(({ type }) => type)).toEqual(['system', 'user', 'user']);
});

test('title, tag and archive mark are stored and found again', async () => {
  const { roots, path } = await stored();
  await writeFile(path, '{"type":"user","trunc', { flag: 'a' });
  await sessions.renameSession(roots, SESSION, ' Engines ');
  await sessions.tagSession(roots, SESSION, 'old');
  await sessions.archiveSession(roots, SESSION, true);
  const marked = { customTitle: 'Engines', tag: 'old', archived: true };
  expect(await sessions.getSessionInfo(roots, SESSION)).toMatchObject(marked);
  await sessions.tagSession(roots, SESSION, null);
  await sessions.archiveSession(roots, SESSION, false);
  const info = await sessions.getSessionInfo(roots, SESSION);
  expect(info).toMatchObject({ customTitle: 'Engines', archived: false });
  expect(info).not.toHaveProperty('tag');
});

test('a prompt after archiving removes the mark', async () => {
  const { roots, path } = await stored();
  await mkdir(path.replace('.jsonl', ''));
  const mark = { archived: true, at: '2026-01-02T11:00:00.000Z' };
  await writeFile(path.replace('.jsonl', '/archived.json'), JSON.stringify(mark));
  expect(await sessions.getSessionInfo(roots, SESSION)).toMatchObject({ archived: false });
});

test('deleting removes the transcript and the files beside it', async () => {
  const { roots, path } = await stored();
  await mkdir(path.replace('.jsonl', '/tool-results'), { recursive: true });
  await sessions.deleteSession(roots, SESSION, { dir: CWD });
  expect(await readdir(projectFolder(roots.toolplane, CWD))).toEqual([]);
  await expect(sessions.deleteSession(roots, SESSION)).rejects.toMatchObject({ code: 'unknown-session' });
});

test('a session that is deleted while it runs continues in a new file', async () => {
  const root = await temporaryRoot();
  const roots = { toolplane: join(root, 'toolplane'), claude: join(root, 'claude') };
  const place = { root: roots.toolplane, cwd: CWD, sessionId: SESSION };
  const now = () => new Date(0);
  await using transcript = new Transcript({ ...place, now, onUnwritable: expect.unreachable });
  await transcript.append(TURN);
  await sessions.deleteSession(roots, SESSION);
  await transcript.append([user(3, 'Still there?')]);
  expect(texts(await sessions.getSessionMessages(roots, SESSION))).toEqual(['Still there?']);
});

test('a fork of our own session is resumed with the messages up to the chosen one', async () => {
  await using world = await openAgentSandbox([text('first'), text('second'), text('third')]);
  const options: Options = { env: world.env, cwd: world.cwd, tools: [] };
  const run = async (prompt: string, more: Options = {}) =>
    (await collect(query({ prompt, options: { ...options, ...more } }))).at(-1)?.session_id as string;
  const id = await run('one', { title: 'Numbers' });
  await run('two', { resume: id });
  const roots = { toolplane: join(world.cwd, '.toolplane'), claude: join(world.cwd, 'none') };
  expect(await sessions.getSessionInfo(roots, id)).toMatchObject({ customTitle: 'Numbers' });
  const [, answer] = await sessions.getSessionMessages(roots, id);
  const upToMessageId = answer?.uuid as string;
  const { sessionId } = await sessions.forkSession(roots, id, { upToMessageId, title: 'Branch' });
  expect(await sessions.getSessionInfo(roots, sessionId)).toMatchObject({ customTitle: 'Branch' });
  expect(await run('three', { resume: sessionId })).toBe(sessionId);
  expect(texts(world.api.requests.at(-1)?.messages.map((message) => ({ message })) ?? [])).toEqual([
    'one',
    'first',
    'three',
  ]);
  const [copied] = await sessions.getSessionMessages(roots, sessionId);
  expect(copied?.uuid).not.toBe((await sessions.getSessionMessages(roots, id))[0]?.uuid);
});

test('the conversations of sub-agents are stored with the session, and deleted with it', async () => {
  const task = (name: string) =>
    toolUse(
      'Agent',
      { description: name, prompt: `work of ${name}`, subagent_type: 'worker', run_in_background: false },
      name,
    );
  await using world = await openAgentSandbox(({ messages }) => {
    const [first] = texts(messages.map((message) => ({ message })));
    if (first === 'Delegate.')
      return messages.length === 1 ? together(task('one'), task('two')) : text('Done.');
    return messages.length === 1
      ? toolUse('Glob', { pattern: '*.none' }, `${first}`)
      : text(`End of ${first}`);
  });
  const stops: string[] = [];
  const onStop: HookCallback = async (input) => {
    if (input.hook_event_name === 'SubagentStop') stops.push(input.agent_transcript_path);
    return {};
  };
  const options: Options = {
    env: world.env,
    cwd: world.cwd,
    tools: ['Agent', 'Glob'],
    allowedTools: ['Agent', 'Glob'],
    agents: { worker: { description: 'works', prompt: 'You work.' } },
    hooks: { SubagentStop: [{ hooks: [onStop] }] },
  };
  const streamed = await collect(query({ prompt: 'Delegate.', options }));
  const id = streamed.at(-1)?.session_id as string;
  const roots = { toolplane: join(world.cwd, '.toolplane'), claude: join(world.cwd, 'none') };
  const agents = await sessions.listSubagents(roots, id);
  expect(agents).toHaveLength(2);
  expect(stops.toSorted()).toEqual(
    agents.map((agent) => expect.stringContaining(`subagents/agent-${agent}.jsonl`)),
  );
  const stored = await Promise.all(agents.map((agent) => sessions.getSubagentMessages(roots, id, agent)));
  for (const name of ['one', 'two']) {
    const own = stored.find(([first]) => first?.parent_tool_use_id === name);
    expect(own?.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(own?.[0]).toMatchObject({ session_id: id, message: { content: `work of ${name}` } });
    const ids = streamed.flatMap((message) =>
      'parent_tool_use_id' in message && message.parent_tool_use_id === name ? [message.uuid] : [],
    );
    // The text of an agent in the foreground is not streamed, and its prompt is streamed under another id.
    expect(own?.slice(1, 3).map((message) => message.uuid)).toEqual(ids.slice(1));
  }
  expect(await sessions.getSessionMessages(roots, id)).toHaveLength(4);
  expect(await sessions.listSessions(roots)).toHaveLength(1);
  await sessions.deleteSession(roots, id);
  expect(await readdir(projectFolder(roots.toolplane, world.cwd))).toEqual([]);
});

test.each(['../secret', '..', 'a/b', '', `${SESSION}/../x`, 'agent-x'])(
  'the id %j leads nowhere',
  async (id) => {
    const { roots, path } = await stored();
    await writeFile(join(roots.toolplane, 'secret.jsonl'), await readFile(path));
    expect(await sessions.getSessionInfo(roots, id)).toBeUndefined();
    expect(await sessions.getSessionMessages(roots, id)).toEqual([]);
    expect(await sessions.getSubagentMessages(roots, SESSION, id)).toEqual([]);
    for (const change of [
      sessions.renameSession(roots, id, 'title'),
      sessions.tagSession(roots, id, 'tag'),
      sessions.archiveSession(roots, id, true),
      sessions.forkSession(roots, id),
      sessions.deleteSession(roots, id),
    ]) {
      await expect(change).rejects.toMatchObject({ code: 'bad-option' });
    }
  },
);

test('a large transcript of the claude CLI is listed by both of its ends', async () => {
  const { roots } = await stored();
  const folder = join(roots.claude, 'projects', '-home-ada-x');
  await mkdir(folder, { recursive: true });
  const filler = `${JSON.stringify({ type: 'other', text: 'x'.repeat(1000) })}\n`.repeat(500);
  const title = JSON.stringify({ type: 'custom-title', customTitle: 'At the end' });
  const start = textOf('two turns');
  await writeFile(join(folder, `${sessionOf('two turns')}.jsonl`), `${start}${filler}${title}\n`);
  const found = await sessions.getSessionInfo(roots, sessionOf('two turns'));
  expect(found).toMatchObject({ firstPrompt: 'Hi', summary: 'At the end' });
  const image = textOf('an image and text').replace('"source":{}', `"source":"${'x'.repeat(200_000)}"`);
  await writeFile(join(folder, `${sessionOf('an image and text')}.jsonl`), image);
  const long = await sessions.getSessionInfo(roots, sessionOf('an image and text'));
  expect(long).toMatchObject({ firstPrompt: 'See image' });
});

test('work trees of a repository are listed together; links in the directory name are resolved', async () => {
  const { roots } = await stored();
  const root = await temporaryRoot();
  const git = join(root, 'main', '.git', 'worktrees', 'tree');
  await mkdir(git, { recursive: true });
  await mkdir(join(root, 'tree'));
  await writeFile(join(root, 'tree', '.git'), `gitdir: ${git}\n`);
  await writeFile(join(git, 'gitdir'), `${join(root, 'tree', '.git')}\n`);
  await writeFile(join(git, 'commondir'), '../..\n');
  await symlink(join(root, 'main'), join(root, 'link'));
  for (const [at, name] of ['main', 'tree'].entries()) {
    const folder = join(roots.claude, 'projects', join(root, name).replace(/[^a-zA-Z0-9]/g, '-'));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${uuid(at)}.jsonl`), textOf('two turns'));
  }
  const listed = async (dir: string, includeWorktrees: boolean) =>
    (await sessions.listSessions(roots, { dir: join(root, dir), includeWorktrees })).length;
  expect(await listed('main', true)).toBe(2);
  expect(await listed('tree', true)).toBe(2);
  expect(await listed('link', true)).toBe(2);
  expect(await listed('link', false)).toBe(1);
  expect(await listed('tree', false)).toBe(1);
});

test('a session store is rejected by name', async () => {
  const { roots } = await stored();
  await expect(sessions.listSessions(roots, { sessionStore: {} as never })).rejects.toMatchObject({
    code: 'unsupported-option',
  });
});
