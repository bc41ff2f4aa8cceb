import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk/unstable';
import { expect, test } from 'vitest';
import { temporaryRoot } from '../../agent/transcript/sessions.ts';
import { sessionOf, textOf } from '../../sessions/transcripts.ts';
import { isAlive } from '../../support/fixture-server.ts';
import type { MessagesRequest } from '../../support/model-api/messages-request.ts';
import { text, together, toolUse } from '../../support/model-api/model-reply.ts';
import { type AcpClient, chunkText, delivered, openAcp } from '../support/acp-client.ts';

const { session } = methods.agent;

/** The texts of the user in a request to the model. */
function prompts({ messages }: MessagesRequest): string[] {
  return messages.flatMap(({ role, content }) => {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return role === 'user'
      ? blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []))
      : [];
  });
}

/** A client with one finished session, which is closed again. */
async function openWithSession(): Promise<AcpClient & { id: string }> {
  const acp = await openAcp([
    together(text('Looking.'), toolUse('Read', { file_path: 'none.txt' }, 'call')),
    text('Nothing there.'),
    text('Later.'),
    text('Latest.'),
  ]);
  const id = await acp.newSession();
  await acp.prompt(id, 'What is in none.txt?');
  await acp.agent.request(session.close, { sessionId: id });
  return { ...acp, id };
}

test('a loaded session replays its conversation and continues it', async () => {
  const { id, ...acp } = await openWithSession();
  const before = acp.updates.length;
  const loaded = await acp.agent.request(session.load, { sessionId: id, cwd: acp.cwd, mcpServers: [] });
  expect(loaded.modes?.currentModeId).toBe('default');
  await delivered();
  const replayed = acp.updates
    .slice(before)
    .filter(({ sessionUpdate }) => sessionUpdate !== 'available_commands_update');
  expect(replayed.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
    'user_message_chunk',
    'agent_message_chunk',
    'tool_call',
    'tool_call_update',
    'agent_message_chunk',
  ]);
  expect(chunkText(replayed, 'user_message_chunk')).toBe('What is in none.txt?');
  expect(chunkText(replayed)).toBe('Looking.Nothing there.');
  expect(replayed[2]).toMatchObject({
    toolCallId: 'call',
    kind: 'read',
    rawInput: { file_path: 'none.txt' },
  });
  expect(replayed[3]).toMatchObject({ toolCallId: 'call', status: 'failed' });
  expect(await acp.prompt(id, 'And now?')).toBe('end_turn');
  expect(prompts(await acp.api.request(3))).toEqual(['What is in none.txt?', 'And now?']);
});

test('a session of the claude CLI can be loaded and continued', async () => {
  const CLAUDE_CONFIG_DIR = await temporaryRoot();
  const acp = await openAcp([text('Later.')], { env: { CLAUDE_CONFIG_DIR } });
  const folder = join(CLAUDE_CONFIG_DIR, 'projects', acp.cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'));
  const sessionId = sessionOf('two turns');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${sessionId}.jsonl`), textOf('two turns'));
  await acp.agent.request(session.load, { sessionId, cwd: acp.cwd, mcpServers: [] });
  await delivered();
  expect(chunkText(acp.updates)).toBe('HelloYes');
  expect(await acp.prompt(sessionId, 'And now?')).toBe('end_turn');
  expect(prompts(await acp.api.request(1))).toEqual(['Hi', 'More', 'And now?']);
});

test('a resumed session continues without a replay', async () => {
  const { id, ...acp } = await openWithSession();
  const before = acp.updates.length;
  await acp.agent.request(session.resume, { sessionId: id, cwd: acp.cwd, mcpServers: [] });
  expect(chunkText(acp.updates.slice(before))).toBe('');
  await acp.prompt(id, 'And now?');
  expect(prompts(await acp.api.request(3))).toEqual(['What is in none.txt?', 'And now?']);
});

test('a fork continues the conversation under a new id and leaves the original unchanged', async () => {
  const { id, ...acp } = await openWithSession();
  const fork = await acp.agent.request(session.fork, { sessionId: id, cwd: acp.cwd });
  expect(fork.sessionId).not.toBe(id);
  await acp.prompt(fork.sessionId, 'In the fork?');
  await acp.agent.request(session.resume, { sessionId: id, cwd: acp.cwd });
  await acp.prompt(id, 'In the original?');
  expect(prompts(await acp.api.request(3))).toEqual(['What is in none.txt?', 'In the fork?']);
  expect(prompts(await acp.api.request(4))).toEqual(['What is in none.txt?', 'In the original?']);
});

test('an open session can be forked and loaded', async () => {
  const acp = await openAcp([text('one'), text('two'), text('three')]);
  const id = await acp.newSession();
  await acp.prompt(id, 'first');
  const { sessionId } = await acp.agent.request(session.fork, { sessionId: id, cwd: acp.cwd });
  await acp.agent.request(session.load, { sessionId: id, cwd: acp.cwd, mcpServers: [] });
  expect(await acp.prompt(id, 'second')).toBe('end_turn');
  expect(await acp.prompt(sessionId, 'third')).toBe('end_turn');
  expect(prompts(await acp.api.request(3))).toEqual(['first', 'third']);
});

test('loading an open session from another directory leaves it open', async () => {
  const acp = await openAcp([text('one'), text('two')]);
  const id = await acp.newSession();
  await acp.prompt(id, 'first');
  const elsewhere = acp.agent.request(session.load, { sessionId: id, cwd: '/', mcpServers: [] });
  await expect(elsewhere).rejects.toMatchObject({ code: -32002 });
  expect(await acp.prompt(id, 'second')).toBe('end_turn');
});

test('of several agents that load one session at once, one remains', async () => {
  const { id, ...acp } = await openWithSession();
  const pids = join(acp.cwd, 'pids');
  const code = `require('node:fs').appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n'); process.stdin.resume()`;
  const mcpServers = [{ name: 'slow', command: process.execPath, args: ['-e', code], env: [] }];
  const params = { sessionId: id, cwd: acp.cwd, mcpServers };
  await Promise.all([1, 2, 3].map(() => acp.agent.request(session.load, params)));
  await acp.agent.request(session.close, { sessionId: id });
  const started = await readFile(pids, 'utf8').catch(() => '');
  expect(started.split('\n').filter((pid) => pid !== '' && isAlive(Number(pid)))).toEqual([]);
});

test('sessions with a prompt are listed, by directory if one is given', async () => {
  const { id, ...acp } = await openWithSession();
  await acp.newSession();
  const { sessions } = await acp.agent.request(session.list, {});
  expect(sessions).toMatchObject([{ sessionId: id, cwd: acp.cwd, title: 'What is in none.txt?' }]);
  expect(Date.parse(sessions[0]?.updatedAt ?? '')).not.toBeNaN();
  expect((await acp.agent.request(session.list, { cwd: acp.cwd })).sessions).toHaveLength(1);
  expect((await acp.agent.request(session.list, { cwd: '/elsewhere' })).sessions).toEqual([]);
  await expect(acp.agent.request(session.list, { cursor: 'x' })).rejects.toMatchObject({ code: -32602 });
});

test('a session can be given a title and deleted', async () => {
  const { id, ...acp } = await openWithSession();
  const title = { sessionId: id, title: ' My\n\u001b session ' };
  expect(await acp.agent.request(session.setTitle, title)).toEqual({ title: 'My session' });
  const { sessions } = await acp.agent.request(session.list, {});
  expect(sessions).toMatchObject([{ sessionId: id, title: 'My session' }]);
  await acp.agent.request(session.delete, { sessionId: id });
  expect((await acp.agent.request(session.list, {})).sessions).toEqual([]);
  const again = acp.agent.request(session.setTitle, title);
  await expect(again).rejects.toMatchObject({ code: -32002 });
  const empty = acp.agent.request(session.setTitle, { sessionId: id, title: ' ' });
  await expect(empty).rejects.toMatchObject({ code: -32602 });
});

test('a closed or unknown session accepts no prompt', async () => {
  const { id, ...acp } = await openWithSession();
  const sessionId = randomUUID();
  await expect(acp.prompt(id, 'x')).rejects.toMatchObject({ code: -32002, data: { sessionId: id } });
  for (const method of [session.load, session.resume, session.fork]) {
    const opened = acp.agent.request(method, { sessionId, cwd: acp.cwd, mcpServers: [] });
    await expect(opened).rejects.toMatchObject({ code: -32002 });
  }
});
