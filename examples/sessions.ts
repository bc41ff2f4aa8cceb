// Store a conversation, resume it, and fork it.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getSessionMessages, listSessions, type Options, query, renameSession } from 'toolplane';
import { openLoopbackModel } from './loopback-model.ts';

/** A model that repeats everything it received. */
await using endpoint = await openLoopbackModel(({ messages }) => {
  const prompts = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  return { text: `You said: ${prompts.join(' / ')}` };
});
const directory = await mkdtemp(join(tmpdir(), 'toolplane-example-'));
const home = join(directory, 'home');

/** Runs one turn and returns the id of its session. */
async function ask(prompt: string, more: Options = {}): Promise<string> {
  const options: Options = {
    model: 'openai:parrot',
    // #region home
    env: { ...process.env, TOOLPLANE_HOME: home, OPENAI_BASE_URL: endpoint.baseUrl },
    // #endregion
    cwd: directory,
    tools: [],
    ...more,
  };
  let session = '';
  for await (const message of query({ prompt, options })) {
    if (message.type !== 'result') continue;
    session = message.session_id;
    assert.equal(message.subtype, 'success');
    if (message.subtype === 'success') console.log(message.result);
  }
  return session;
}

// #region sessions
const first = await ask('My name is Ada.');
const resumed = await ask('I like tea.', { resume: first }); // the same session, one turn longer
const forked = await ask('I like coffee.', { resume: first, forkSession: true }); // a copy; the first is unchanged
const latest = await ask('That is all.', { continue: true }); // the most recent session of this directory
await ask('Forget this.', { persistSession: false }); // not stored
// #endregion

// The session functions read the environment of this process.
process.env.TOOLPLANE_HOME = home;
// #region stored
await renameSession(first, 'About Ada');
const sessions = await listSessions({ dir: directory }); // without dir: of all projects
const messages = await getSessionMessages(first); // user and assistant messages, oldest first
// #endregion
console.log({ titles: sessions.map(({ summary }) => summary), messages: messages.length });

const folders = await readdir(join(home, 'projects'));
const files = await readdir(join(home, 'projects', String(folders[0])));
console.log({ sessions: files.length, resumedIsFirst: resumed === first, forkedIsFirst: forked === first });
await rm(directory, { recursive: true });

assert.deepEqual(files.toSorted(), [`${first}.jsonl`, `${forked}.jsonl`].toSorted());
assert.equal(resumed, first);
assert.equal(latest, forked);
