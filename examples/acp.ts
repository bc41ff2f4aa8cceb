// An ACP client that starts `toolplane acp`, as an editor does: prompt, permission, tool call. Offline.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'toolplane-example-'));
const env = { PATH: process.env.PATH, HOME: project };
const lines: string[] = [];
let answer = '';

// An editor runs the command `toolplane` with the arguments `acp --model rehearsal`.
const command = [...process.execArgv, main, 'acp', '--model', 'rehearsal'];
const agent = spawn(process.execPath, command, { env, stdio: ['pipe', 'pipe', 'inherit'] });

// #region client
const editor = client({ name: 'my-editor' })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    const option = params.options.find(({ kind }) => kind === 'allow_once');
    lines.push(`permission: ${params.toolCall.title}: ${option?.name}`);
    return {
      outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' },
    };
  })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === 'tool_call') lines.push(`tool call: ${update.name} (${update.kind})`);
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
      answer += update.content.text;
  });
// #endregion

const stream = ndJsonStream(
  Writable.toWeb(agent.stdin),
  Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>,
);
// #region prompt
await editor.connectWith(stream, async (toolplane) => {
  await toolplane.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION });
  const { sessionId } = await toolplane.request(methods.agent.session.new, { cwd: project, mcpServers: [] });
  const { stopReason } = await toolplane.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text: 'Call Bash with {"command": "expr 6 + 7"}' }],
  });
  lines.push(`agent: ${answer.trim()}`, `stop reason: ${stopReason}`);
});
// #endregion
agent.stdin.end();
await new Promise((resolve) => agent.on('close', resolve));
rmSync(project, { recursive: true });
console.log(lines.join('\n'));

assert.equal(lines.at(-1), 'stop reason: end_turn');
