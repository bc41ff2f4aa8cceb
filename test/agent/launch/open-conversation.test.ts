import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AgentFlags } from '../../../src/agent/launch/flag-table.ts';
import { type Keeping, openConversation } from '../../../src/agent/launch/open-conversation.ts';
import { findSession, sessionPath } from '../../../src/agent/transcript/session-files.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import { flagName } from '../../../src/protocol/launch-flag.ts';
import {
  getSessionInfo,
  getSessionMessages,
  listSessions,
  renameSession,
} from '../../../src/sessions/session-functions.ts';
import { sessionOf, TRANSCRIPTS, textOf, uuid } from '../../sessions/transcripts.ts';

describe('open conversation', () => {
  const [ONE, TWO, NONE] = ['1', '2', '9'].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [
    string,
    string,
    string,
  ];
  const said = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });
  const replied = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] });

  let keeping: Keeping & { notes: string[] };

  beforeEach(async () => {
    const root = await mkdtemp(join(tmpdir(), 'keeping-'));
    const notes: string[] = [];
    keeping = {
      root,
      cwd: '/w',
      now: () => new Date(0),
      note: (text) => void notes.push(text),
      nameOf: flagName,
      notes,
    };
    return () => rm(root, { recursive: true });
  });

  /** A conversation of two turns; the id of the first reply is the session's with an `a` in front. */
  async function keep(sessionId: string, title?: string): Promise<void> {
    const { root, cwd, now, note } = keeping;
    await using transcript = new Transcript({ root, cwd, sessionId, now, onUnwritable: note });
    await transcript.append([
      { type: 'user', content: [{ type: 'text', text: 'one' }] },
      {
        type: 'assistant',
        content: [{ type: 'text', text: 'ONE' }],
        model: 'm',
        usage: { input_tokens: 1, output_tokens: 1 },
        uuid: `a${sessionId.slice(1)}`,
      },
      { type: 'user', content: [{ type: 'text', text: 'two' }] },
      ...(title === undefined ? [] : [{ type: 'meta' as const, title }]),
    ]);
  }

  const pathOf = (sessionId: string) => sessionPath({ root: keeping.root, cwd: keeping.cwd, sessionId });

  async function open(flags: AgentFlags) {
    const opened = await openConversation(flags, keeping);
    if (!('kept' in opened)) throw new Error(JSON.stringify(opened));
    onTestFinished(async () => opened.kept.transcript?.[Symbol.asyncDispose]());
    return opened.kept;
  }

  test('a new conversation has a new id, is empty and writes no file', async () => {
    const { sessionId, messages, transcript } = await open({});
    expect(messages).toEqual([]);
    expect(transcript?.path).toContain(sessionId);
    expect(await readdir(keeping.root)).toEqual([]);
  });

  test('a new conversation can use a given id', async () => {
    expect(await open({ sessionId: ONE })).toMatchObject({ sessionId: ONE, messages: [] });
  });

  test('without persistence there is no transcript', async () => {
    expect(await open({ sessionId: ONE, noPersistence: true })).toEqual({ sessionId: ONE, messages: [] });
  });

  test('resumes by id with its messages and file', async () => {
    await keep(ONE);
    await keep(TWO);
    const { sessionId, messages, transcript } = await open({ resume: ONE });
    expect({ sessionId, messages }).toEqual({
      sessionId: ONE,
      messages: [said('one'), replied('ONE'), said('two')],
    });
    expect(transcript?.path).toBe((await findSession(keeping.root, '/w', ONE))?.path);
  });

  test('a long conversation is resumed from its last compaction; a fork has all of it', async () => {
    const { root, now, note } = keeping;
    const usage = { input_tokens: 3, output_tokens: 2 };
    const earlier = { replies: [{ model: 'm', usage }], channelMessages: ['c'] };
    {
      await using transcript = new Transcript({ root, cwd: '/w', sessionId: ONE, now, onUnwritable: note });
      const text = (value: string) => [{ type: 'text' as const, text: value }];
      const messages = [{ role: 'user' as const, content: text('s') }];
      await transcript.append([
        { type: 'user', content: text('x'.repeat(700_000)), uuid: uuid(1) },
        { type: 'assistant', content: text('ok'), model: 'm', usage },
        { type: 'compaction', trigger: 'auto', preTokens: 1, summary: 's', messages, earlier },
        { type: 'assistant', content: text('and'), model: 'm', usage },
      ]);
    }
    const resumed = {
      messages: [said('s'), replied('and')],
      earlierReplies: [
        { model: 'm', usage },
        { model: 'm', usage },
      ],
      channelMessages: ['c'],
    };
    expect(await open({ continue: true })).toMatchObject({ sessionId: ONE, ...resumed });
    expect(await open({ resume: ONE, resumeSessionAt: uuid(1) })).toMatchObject({
      messages: [{ role: 'user' }],
    });
    const fork = await open({ resume: ONE, forkSession: true });
    expect(fork).toMatchObject(resumed);
    await fork.transcript?.flush();
    expect(await readFile(fork.transcript?.path ?? '', 'utf8')).toContain(uuid(1));
  });

  test('knows which messages of channels no reply follows', async () => {
    const { root, now, note } = keeping;
    const content = [{ type: 'text' as const, text: 'x' }];
    const earlier = { replies: [], channelMessages: ['a', 'b'], unanswered: ['b'] };
    const usage = { input_tokens: 3, output_tokens: 2 };
    {
      await using transcript = new Transcript({ root, cwd: '/w', sessionId: ONE, now, onUnwritable: note });
      await transcript.append([
        { type: 'compaction', trigger: 'auto', preTokens: 1, summary: 's', messages: [], earlier },
        { type: 'user', content, channelMessages: ['c'], uuid: uuid(1) },
        { type: 'assistant', content, model: 'm', usage },
        { type: 'user', content, channelMessages: ['d'] },
      ]);
    }
    expect(await open({ resume: ONE })).toMatchObject({
      channelMessages: ['a', 'b', 'c', 'd'],
      unansweredMessages: ['d'],
    });
    const upTo = await open({ resume: ONE, resumeSessionAt: uuid(1) });
    expect(upTo.unansweredMessages).toEqual(['b', 'c']);
  });

  test('continues the most recent conversation of the directory', async () => {
    await keep(ONE);
    expect(await open({ continue: true })).toMatchObject({ sessionId: ONE, messages: [{}, {}, {}] });
  });

  test('--continue takes precedence over --resume', async () => {
    await keep(ONE);
    await keep(TWO);
    await utimes(pathOf(ONE), 1, 1);
    expect(await open({ continue: true, resume: ONE })).toMatchObject({ sessionId: TWO });
    expect(await open({ continue: true, resume: NONE })).toMatchObject({ sessionId: TWO });
  });

  test('resumes up to a message', async () => {
    await keep(ONE);
    const { messages } = await open({ resume: ONE, resumeSessionAt: `a${ONE.slice(1)}` });
    expect(messages).toEqual([said('one'), replied('ONE')]);
  });

  test('a fork has a new id and a new file', async () => {
    await keep(ONE);
    const { sessionId, messages, transcript } = await open({
      resume: ONE,
      forkSession: true,
      sessionId: TWO,
    });
    await transcript?.append([]);
    expect({ sessionId, messages }).toMatchObject({ sessionId: TWO, messages: [{}, {}, {}] });
    expect(await findSession(keeping.root, '/w', TWO)).toMatchObject({ path: transcript?.path });
  });

  test('a fork lists its sources, also forks of forks, and when resumed', async () => {
    await keep(ONE);
    expect((await open({ resume: ONE })).resumedFrom).toBe(undefined);
    const copy = await open({ resume: ONE, forkSession: true, sessionId: TWO });
    expect(copy.resumedFrom).toEqual([pathOf(ONE)]);
    await copy.transcript?.append([]);
    const again = await open({ resume: TWO, forkSession: true, sessionId: NONE });
    expect(again.resumedFrom).toEqual([pathOf(TWO), pathOf(ONE)]);
    await again.transcript?.append([]);
    expect((await open({ resume: NONE })).resumedFrom).toEqual([pathOf(TWO), pathOf(ONE)]);
    await rm(pathOf(TWO));
    expect((await open({ resume: NONE })).resumedFrom).toEqual([pathOf(TWO)]);
  });

  test('resuming without persistence has messages and no file', async () => {
    await keep(ONE);
    const kept = await open({ resume: ONE, noPersistence: true });
    const resumedFrom = [pathOf(ONE)];
    expect(kept).toEqual({
      sessionId: ONE,
      messages: [said('one'), replied('ONE'), said('two')],
      earlierReplies: [{ model: 'm', usage: { input_tokens: 1, output_tokens: 1 } }],
      resumedFrom,
    });
  });

  test('usage without an entry and removed images are restored, also in a fork', async () => {
    const { root, cwd, now, note } = keeping;
    const usage = { input_tokens: 1, output_tokens: 1 };
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    await using transcript = new Transcript({ root, cwd, sessionId: ONE, now, onUnwritable: note });
    await transcript.append([
      { type: 'user', content: [{ type: 'image', source }] },
      {
        type: 'assistant',
        content: [{ type: 'text', text: 'ONE' }],
        model: 'm-2026',
        requestedModel: 'm',
        usage,
        otherReplies: [{ model: 'sub', usage }],
        removedImages: 'latest',
      },
    ]);
    const forked = await open({ resume: ONE, forkSession: true, sessionId: TWO });
    await forked.transcript?.append([]);
    for (const kept of [forked, await open({ resume: ONE }), await open({ resume: TWO })]) {
      expect(kept.earlierReplies).toEqual([
        { model: 'sub', usage },
        { model: 'm', usage },
      ]);
      expect(kept.messages[0]?.content).toMatchObject([{ type: 'text' }]);
    }
  });

  test.each<[AgentFlags, string]>([
    [{ sessionId: '../x' }, '--session-id must be a UUID'],
    [
      { resume: ONE, sessionId: TWO },
      '--session-id can be combined with --resume or --continue only with --fork-session',
    ],
    [{ resumeSessionAt: NONE }, '--resume-session-at requires --resume or --continue'],
    [{ sessionId: ONE }, `--session-id ${ONE} is in use; use --resume to continue that session`],
  ])('%j is rejected', async (flags, fault) => {
    await keep(ONE);
    expect(await openConversation(flags, keeping)).toEqual({ fault });
  });

  test.each<[AgentFlags, string, string]>([
    [{ resume: NONE }, NONE, `No conversation found with session ID: ${NONE}`],
    [
      { resume: NONE, forkSession: true, sessionId: TWO },
      TWO,
      `No conversation found with session ID: ${NONE}`,
    ],
    [
      { resume: '../x', forkSession: true, sessionId: TWO },
      TWO,
      '--resume requires a valid session ID or session title: "../x" is not a UUID, and no session in /w has this title',
    ],
    [{ resume: ` ${NONE}\n` }, NONE, `No conversation found with session ID: ${NONE}`],
    [
      { resume: `copies/${ONE}.jsonl`, forkSession: true, sessionId: TWO },
      TWO,
      `--resume "copies/${ONE}.jsonl" is not the transcript of a session in /w; resume the session by its id, in the directory where it was started`,
    ],
    [{ resume: ONE, resumeSessionAt: NONE }, ONE, `No message found with message.uuid of: ${NONE}`],
  ])('%j finds nothing to resume', async (flags, sessionId, reason) => {
    await keep(ONE);
    expect(await openConversation(flags, keeping)).toEqual({ missing: { sessionId, reason } });
  });

  test('resumes by the id with blanks around it, and by the path of the transcript', async () => {
    await keep(ONE);
    const messages = [{}, {}, {}];
    expect(await open({ resume: ` ${ONE}\n` })).toMatchObject({ sessionId: ONE, messages });
    expect(await open({ resume: pathOf(ONE) })).toMatchObject({ sessionId: ONE, messages });
    expect(await open({ resume: ` ${relative('/w', pathOf(ONE))} ` })).toMatchObject({
      sessionId: ONE,
      messages,
    });
  });

  test('resumes by title, in any case and without blanks around it', async () => {
    await keep(ONE, 'First title');
    await keep(TWO, 'Second title');
    expect(await open({ resume: ' first TITLE ' })).toMatchObject({ sessionId: ONE, messages: [{}, {}, {}] });
    expect(await openConversation({ resume: 'First' }, keeping)).toMatchObject({ missing: {} });
  });

  test('a title of two sessions resumes neither and lists both', async () => {
    await keep(ONE, 'Same');
    await keep(TWO, 'Same');
    const opened = await openConversation({ resume: 'same' }, keeping);
    const reason = expect.stringMatching(/^--resume "same" is the title of 2 sessions; /);
    expect(opened).toMatchObject({ missing: { reason } });
    expect(JSON.stringify(opened)).toContain(ONE);
    expect(JSON.stringify(opened)).toContain(TWO);
  });

  test.each<AgentFlags>([{ continue: true }, { forkSession: true }, { continue: true, forkSession: true }])(
    '%j without a conversation starts a new one',
    async (flags) => {
      expect(await openConversation(flags, keeping)).toMatchObject({ kept: { messages: [] } });
    },
  );
});

describe('sessions of the claude CLI', () => {
  const CWD = '/home/ada/x';
  let keeping: Keeping & { root: string; claudeHome: string };
  let roots: { toolplane: string; claude: string };

  beforeEach(async () => {
    const home = await mkdtemp(join(tmpdir(), 'keeping-'));
    const [root, claudeHome] = [join(home, 'own'), join(home, 'claude')];
    keeping = {
      root,
      claudeHome,
      cwd: CWD,
      now: () => new Date(),
      note: expect.unreachable,
      nameOf: flagName,
    };
    roots = { toolplane: root, claude: claudeHome };
    await mkdir(join(claudeHome, 'projects', '-home-ada-x'), { recursive: true });
    return () => rm(home, { recursive: true });
  });

  const claudePath = (name: string) =>
    join(keeping.claudeHome, 'projects', '-home-ada-x', `${sessionOf(name)}.jsonl`);

  /** Stores a transcript of the table as the CLI does, an hour ago. */
  async function keep(name: string): Promise<string> {
    await writeFile(claudePath(name), textOf(name));
    const time = Date.now() / 1_000 - 3_600;
    await utimes(claudePath(name), time, time);
    return sessionOf(name);
  }

  async function open(flags: AgentFlags) {
    const opened = await openConversation(flags, keeping);
    if (!('kept' in opened)) throw new Error(JSON.stringify(opened));
    onTestFinished(async () => opened.kept.transcript?.[Symbol.asyncDispose]());
    return opened.kept;
  }

  const lines = (messages: readonly { role: string; content: unknown }[]) =>
    messages.map(({ role, content }) => {
      const blocks = content as { type: string; text?: string; id?: string; tool_use_id?: string }[];
      return `${role}: ${blocks.map((block) => block.text ?? block.id ?? block.tool_use_id ?? block.type).join(' ')}`;
    });

  test.each<[string, string[]]>([
    ['two turns', ['user: Hi', 'assistant: Hello', 'user: More', 'assistant: Yes']],
    ['two calls at once', ['user: p', 'assistant: a b', 'user: a b', 'assistant: done']],
    [
      'two calls at once, the first finished last',
      ['user: p', 'assistant: a b', 'user: a b', 'assistant: done'],
    ],
    ['two branches', ['user: Hi', 'assistant: Hello', 'user: new', 'assistant: new']],
    ['a sub-agent inside', ['user: Main', 'assistant: main']],
    ['a meta message between', ['user: Hi', 'assistant: Hello', 'user: Meta', 'assistant: y']],
    ['a compaction', ['user: The summary after', 'assistant: B']],
    [
      'a compaction that kept messages',
      ['user: The summary kept', 'assistant: a', 'user: a', 'assistant: Kept', 'user: after', 'assistant: B'],
    ],
    ['system messages', ['user: Hi', 'assistant: Hello', 'user: q', 'assistant: B']],
    ['a prompt during a turn', ['user: p', 'assistant: a', 'user: a Queued', 'assistant: done']],
    ['a failed request', ['user: p again', 'assistant: done']],
    ['references to tools', ['user: p', 'assistant: a', 'user: a', 'assistant: done']],
    ['a truncated line', ['user: Hi', 'assistant: Hello']],
  ])('%s: the model gets the conversation', async (name, expected) => {
    const { messages, sessionId } = await open({ resume: await keep(name) });
    expect(lines(messages)).toEqual(expected);
    expect(sessionId).toBe(sessionOf(name));
    expect(JSON.stringify(messages)).not.toContain('tool_reference');
  });

  test.each(Object.keys(TRANSCRIPTS))('%s: resumed, or there is no conversation', async (name) => {
    keeping = { ...keeping, note: () => {} };
    const opened = await openConversation({ resume: await keep(name) }, keeping);
    const reason = `No conversation found with session ID: ${sessionOf(name)}`;
    if ('kept' in opened) expect(opened.kept.messages[0]?.role).toBe('user');
    else expect(opened).toEqual({ missing: { sessionId: sessionOf(name), reason } });
  });

  test('a continued session has one row, its old and new messages, and an unchanged file of the CLI', async () => {
    const id = await keep('two calls at once');
    const before = await getSessionMessages(roots, id);
    const { transcript, resumedFrom, earlierReplies } = await open({ resume: id });
    expect(resumedFrom).toEqual([claudePath('two calls at once')]);
    expect(earlierReplies).toHaveLength(2);
    expect(await readdir(keeping.claudeHome)).toEqual(['projects']);
    await expect(readFile(transcript?.path as string)).rejects.toThrow('ENOENT');
    await transcript?.append([{ type: 'user', uuid: uuid(70), content: [{ type: 'text', text: 'more' }] }]);
    const after = await getSessionMessages(roots, id);
    expect(after.map((message) => message.uuid)).toEqual([
      ...before.map((message) => message.uuid),
      uuid(70),
    ]);
    expect(await listSessions(roots, { dir: CWD })).toMatchObject([{ sessionId: id, firstPrompt: 'p' }]);
    expect(await listSessions(roots, { includeProgrammatic: false })).toHaveLength(1);
    expect(await readFile(claudePath('two calls at once'), 'utf8')).toBe(textOf('two calls at once'));
    const again = await open({ resume: id });
    expect(lines(again.messages).at(-1)).toBe('user: more');
    expect(again.resumedFrom).toEqual([claudePath('two calls at once')]);
  });

  test('title and tag are kept', async () => {
    for (const name of ['titles', 'tags']) {
      const { transcript } = await open({ resume: await keep(name) });
      await transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'more' }] }]);
    }
    const rows = await listSessions(roots);
    expect(rows).toContainEqual(
      expect.objectContaining({ sessionId: sessionOf('titles'), customTitle: 'Two' }),
    );
    expect(rows).toContainEqual(expect.objectContaining({ sessionId: sessionOf('tags'), tag: 'two' }));
  });

  test('a session is resumed by its title, also when both agents have a file of it', async () => {
    await keep('titles');
    const { sessionId, transcript } = await open({ resume: 'two' });
    expect(sessionId).toBe(sessionOf('titles'));
    await transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'more' }] }]);
    expect((await open({ resume: 'TWO' })).sessionId).toBe(sessionOf('titles'));
  });

  const nested = '{"type":"tool_result","tool_use_id":"x","content":[';
  test.each<[string, string]>([
    ['a tool name that is an object', '{"type":"tool_reference","tool_name":{"toString":1,"valueOf":1}}'],
    ['20,000 nested blocks', `${nested.repeat(20_000)}${']}'.repeat(20_000)}`],
  ])('%s: this session and others of the project are resumed', async (_, block) => {
    const id = await keep('two turns');
    const line = { type: 'user', uuid: uuid(71), parentUuid: uuid(4), sessionId: id, timestamp: 'x' };
    const damaged = JSON.stringify({ ...line, message: { role: 'user', content: ['BLOCK'] } });
    await appendFile(claudePath('two turns'), `${damaged.replace('"BLOCK"', () => block)}\n`);
    await keep('titles');
    keeping = { ...keeping, note: () => {} };
    expect((await open({ resume: 'two' })).sessionId).toBe(sessionOf('titles'));
    expect(lines((await open({ resume: id })).messages).slice(0, 4)).toEqual([
      'user: Hi',
      'assistant: Hello',
      'user: More',
      'assistant: Yes',
    ]);
  });

  test('a file that cannot be read is skipped, and its own session is reported as unreadable', async () => {
    await keep('titles');
    await writeFile(claudePath('two turns'), 'x\n');
    await truncate(claudePath('two turns'), 600 * 1024 * 1024);
    expect((await open({ resume: 'two' })).sessionId).toBe(sessionOf('titles'));
    expect((await open({ continue: true })).sessionId).toBe(sessionOf('titles'));
    const sessionId = sessionOf('two turns');
    const reason = expect.stringMatching(/^The session cannot be read: /);
    expect(await openConversation({ resume: sessionId }, keeping)).toEqual({
      missing: { sessionId, reason },
    });
  });

  test('what the CLI adds later continues its own branch', async () => {
    const id = await keep('two turns');
    const { transcript } = await open({ resume: id });
    await transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'ours' }] }]);
    const line = { type: 'user', uuid: uuid(71), parentUuid: uuid(4), sessionId: id, timestamp: 'x' };
    await appendFile(
      claudePath('two turns'),
      `${JSON.stringify({ ...line, message: { role: 'user', content: 'theirs' } })}\n`,
    );
    const later = Date.now() / 1_000 + 60;
    await utimes(claudePath('two turns'), later, later);
    const second = await open({ resume: id });
    expect(lines(second.messages)).toEqual([
      'user: Hi',
      'assistant: Hello',
      'user: More',
      'assistant: Yes',
      'user: theirs',
    ]);
    await second.transcript?.append([
      { type: 'user', uuid: uuid(72), content: [{ type: 'text', text: 'both' }] },
    ]);
    await utimes(second.transcript?.path as string, later + 1, later + 1);
    expect(lines((await open({ resume: id })).messages).slice(3)).toEqual([
      'assistant: Yes',
      'user: theirs both',
    ]);
    expect((await getSessionMessages(roots, id)).slice(-2).map((message) => message.uuid)).toEqual([
      uuid(71),
      uuid(72),
    ]);
  });

  test('two queries that continue a session at the same time both keep its messages', async () => {
    const id = await keep('two turns');
    const [one, two] = [await open({ resume: id }), await open({ resume: id })];
    await one.transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'one' }] }]);
    await two.transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'two' }] }]);
    expect(lines((await open({ resume: id })).messages).slice(3)).toEqual(['assistant: Yes', 'user: two']);
  });

  test('a fork is a new session', async () => {
    const id = await keep('two turns');
    const { transcript, sessionId, resumedFrom } = await open({ resume: id, forkSession: true });
    await transcript?.flush();
    expect(sessionId).not.toBe(id);
    expect(resumedFrom).toEqual([claudePath('two turns')]);
    expect(await getSessionMessages(roots, sessionId)).toHaveLength(4);
    const again = await open({ resume: sessionId });
    expect(again.messages).toHaveLength(4);
    expect(again.resumedFrom).toContain(claudePath('two turns'));
  });

  test('the session can be cut after a message', async () => {
    const id = await keep('two turns');
    const { messages, transcript } = await open({ resume: id, resumeSessionAt: uuid(2) });
    expect(lines(messages)).toEqual(['user: Hi', 'assistant: Hello']);
    await transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'other' }] }]);
    expect(lines((await open({ resume: id })).messages)).toEqual([
      'user: Hi',
      'assistant: Hello',
      'user: other',
    ]);
    expect(await openConversation({ resume: id, resumeSessionAt: uuid(99) }, keeping)).toHaveProperty(
      'missing',
    );
  });

  test('--continue takes the most recent session of both kinds', async () => {
    await keep('two turns');
    await keep('a sub-agent');
    expect(await open({ continue: true })).toMatchObject({ sessionId: sessionOf('two turns') });
    const own = await open({ sessionId: uuid(80) });
    await own.transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'newer' }] }]);
    expect(await open({ continue: true })).toMatchObject({ sessionId: uuid(80) });
  });

  test('a session with an id in upper case is found by the session functions', async () => {
    const id = 'ABCDEF00-0000-4000-8000-000000000000';
    const { sessionId, transcript } = await open({ sessionId: id });
    await transcript?.append([{ type: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
    expect(sessionId).toBe(id);
    for (const options of [{}, { dir: CWD }]) {
      expect(await getSessionMessages(roots, id, options)).toHaveLength(1);
      await renameSession(roots, id, 'New', options);
      expect(await getSessionInfo(roots, id, options)).toMatchObject({ customTitle: 'New' });
    }
  });

  test('the id of such a session is in use', async () => {
    expect(await openConversation({ sessionId: await keep('two turns') }, keeping)).toHaveProperty('fault');
  });
});
