import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AgentFlags } from '../../../src/agent/launch/flag-table.ts';
import { type Keeping, openConversation } from '../../../src/agent/launch/open-conversation.ts';
import { findSession, sessionPath } from '../../../src/agent/transcript/session-files.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';

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
    keeping = { root, cwd: '/w', now: () => new Date(0), note: (text) => void notes.push(text), notes };
    return () => rm(root, { recursive: true });
  });

  /** A conversation of two turns; the id of the first reply is the session's with an `a` in front. */
  async function keep(sessionId: string): Promise<void> {
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
    ]);
  }

  const pathOf = (sessionId: string) => sessionPath({ root: keeping.root, cwd: keeping.cwd, sessionId });

  async function open(flags: AgentFlags) {
    const opened = await openConversation(flags, keeping);
    if ('fault' in opened) throw new Error(opened.fault);
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

  test('continues the most recent conversation of the directory', async () => {
    await keep(ONE);
    expect(await open({ continue: true })).toMatchObject({ sessionId: ONE, messages: [{}, {}, {}] });
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

  test.each<[AgentFlags, string]>([
    [{ sessionId: '../x' }, '--session-id must be a UUID'],
    [{ resume: '../x' }, '--resume must be a session id, which is a UUID'],
    [{ resume: NONE }, `No conversation found with session ID: ${NONE} (--resume finds the sessions of /w)`],
    [
      { resume: ONE, sessionId: TWO },
      '--session-id can be combined with --resume or --continue only with --fork-session',
    ],
    [{ resumeSessionAt: NONE }, '--resume-session-at requires --resume or --continue'],
    [{ resume: ONE, resumeSessionAt: NONE }, `--resume-session-at: conversation ${ONE} has no such message`],
    [{ sessionId: ONE }, `--session-id ${ONE} is in use; use --resume to continue that session`],
  ])('%j is rejected', async (flags, fault) => {
    await keep(ONE);
    expect(await openConversation(flags, keeping)).toEqual({ fault });
  });

  test.each<AgentFlags>([{ continue: true }, { forkSession: true }, { continue: true, forkSession: true }])(
    '%j without a conversation starts a new one',
    async (flags) => {
      expect(await openConversation(flags, keeping)).toMatchObject({ kept: { messages: [] } });
    },
  );
});
