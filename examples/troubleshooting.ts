// Debugging: the agent's stderr, frames, failed tools, the status of servers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AbortError, AgentClient, createSdkMcpServer, query, SdkError, tool } from 'toolplane';
import { scriptAgent } from 'toolplane/testing';

const standIn = fileURLToPath(new URL('./stand-in-agent.mjs', import.meta.url));
const program = fileURLToPath(new URL('./quick-start.ts', import.meta.url));

// #region stderr
const stderrLines: string[] = [];
const failing = query({
  prompt: 'Hello',
  options: {
    pathToClaudeCodeExecutable: process.execPath,
    executableArgs: ['-e', "console.error('no license found'); process.exit(3)", '--'],
    stderr: (text) => stderrLines.push(text.trim()),
  },
});
try {
  for await (const _ of failing);
} catch (error) {
  assert.ok(error instanceof SdkError);
  console.log(`${error.code}: ${error.message}`);
}
// #endregion
console.log(`stderr: ${stderrLines.join()}`);
assert.deepEqual(stderrLines, ['no license found']);

// #region frames
const { link: watched } = scriptAgent(async (agent) => {
  await agent.start();
  await agent.prompt();
  agent.result('Hello!');
});
for await (const _ of query({ prompt: 'My password=hunter2', options: { link: watched, debug: true } }));
// #endregion

// #region status
const fail = tool('fail', 'Fails', {}, () => {
  throw new Error('the disk is full');
});
const broken = createSdkMcpServer({ name: 'broken', tools: [fail] });
const { link } = scriptAgent(async (agent) => {
  await agent.start();
  const mcpServers = [{ name: 'files', status: 'failed', error: 'spawn no-such-server ENOENT' }];
  await agent.answer('mcp_status', { mcpServers });
  await agent.prompt();
  // A failed tool is a result for the model, not an exception here.
  console.log(await agent.callTool('broken', 'fail'));
  agent.result('It failed.');
});
await using client = await AgentClient.open({ link, mcpServers: { broken } });
for (const { name, status, error } of await client.mcpServerStatus())
  console.log(`${name}: ${status}: ${error}`);
await client.ask('Try it.');
// #endregion

// #region abort
const abortController = new AbortController();
const aborted = query({ prompt: 'Hello', options: { pathToClaudeCodeExecutable: standIn, abortController } });
abortController.abort();
try {
  for await (const _ of aborted);
} catch (error) {
  console.log(error instanceof AbortError, String(error)); // the caller aborted: not an SdkError
}
// #endregion

// #region environment
const { stderr } = spawnSync(process.execPath, [...process.execArgv, program], {
  env: { ...process.env, TOOLPLANE_DEBUG: 'frames' },
  encoding: 'utf8',
});
const frames = stderr.split('\n').filter((line) => line.includes('tools/call'));
// #endregion
// The id differs in every run.
for (const frame of frames) console.log(frame.replace(/"request_id":"\w+"/, '"request_id":"1"'));
assert.match(stderr, /"method":"tools\/call"/);
