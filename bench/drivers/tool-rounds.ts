// How long an agent takes from one model request to the next when the reply calls a tool of the program. Arguments: the
// contender as JSON, "own" or "cli", and how many tools there are. Prints the median in milliseconds.
import { text, toolUse } from '../../test/world/model-reply.ts';
import { openCliWorld } from '../../test/world/real-cli.ts';
import { median } from '../median.ts';
import { adders, loadAgentSdk } from './agent-sdk.ts';

const ROUNDS = 60;
const WARM_UP = 10;

const [, , contender, agent, tools] = process.argv;
const sdk = await loadAgentSdk(contender);
const times: number[] = [];
await using world = await openCliWorld((_, n) => {
  times.push(performance.now());
  return n > ROUNDS ? text('Enough.') : toolUse('mcp__calc__add_0', { a: n, b: 40 });
});
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
const gaps = times.slice(1).map((time, index) => time - (times[index] ?? Number.NaN));
console.log(JSON.stringify(median(gaps.slice(WARM_UP))));
