// Measures the time from the end of a model's reply with a tool call to the next model request. Arguments: the
// contender as JSON, "own" or "cli", and the number of tools. Prints the median in milliseconds.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { openCliSandbox } from '../../test/support/real-cli.ts';
import { median } from '../median.ts';
import { adders, loadAgentSdk } from './agent-sdk.ts';

const ROUNDS = 100;
const WARM_UP = 40;

const [, , contender, agent, tools] = process.argv;
const sdk = await loadAgentSdk(contender);
const workerData = { rounds: ROUNDS, tool: 'mcp__calc__add_0' };
const endpoint = new Worker(new URL('./endpoint.ts', import.meta.url), { workerData });
const [url] = (await once(endpoint, 'message')) as [string];
await using world = await openCliSandbox([], { ANTHROPIC_BASE_URL: url });
const { cli, env, cwd } = world;
const isCli = JSON.parse(agent ?? '""') === 'cli';
const run = sdk.query({
  prompt: 'Add.',
  options: {
    ...(isCli ? { pathToClaudeCodeExecutable: cli } : { persistSession: false }),
    env,
    cwd,
    model: 'claude-sonnet-5',
    settingSources: [],
    tools: [],
    mcpServers: { calc: await adders(sdk, contender, Number(tools)) },
    allowedTools: ['mcp__calc'],
  },
});
for await (const message of run) {
  if (message.type === 'result' && message.result !== 'Enough.') throw new Error(JSON.stringify(message));
}
endpoint.postMessage('gaps');
const [gaps] = (await once(endpoint, 'message')) as [number[]];
console.log(JSON.stringify(median(gaps.slice(WARM_UP))));
