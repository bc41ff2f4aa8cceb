// The host's own work for one tool round: a scripted model in this process calls a tool of the program repeatedly.
// Arguments: the contender as JSON, and the number of tools. Prints milliseconds per round.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../median.ts';
import { adders, loadAgentSdk } from './agent-sdk.ts';

const ROUNDS = 300;
const TURNS = 7;

const [, , contender, tools] = process.argv;
const sdk = await loadAgentSdk(contender);
const file = join(mkdtempSync(join(tmpdir(), 'script-')), 'replies.json');
const call = { tool: 'mcp__calc__add_0', input: { a: 2, b: 40 } };
writeFileSync(file, JSON.stringify([...Array.from({ length: ROUNDS }, () => call), 'Enough.']));
const server = await adders(sdk, contender, Number(tools));

const times: number[] = [];
for (let turn = 0; turn < TURNS; turn++) {
  let first: number | undefined;
  const options = {
    model: `scripted:${file}`,
    persistSession: false,
    tools: [],
    mcpServers: { calc: server },
    allowedTools: ['mcp__calc'],
  };
  for await (const message of sdk.query({ prompt: 'Add.', options })) {
    if (message.type === 'assistant') first ??= performance.now();
    if (message.type === 'result' && message.result !== 'Enough.') throw new Error(JSON.stringify(message));
  }
  times.push((performance.now() - (first ?? Number.NaN)) / ROUNDS);
}
console.log(JSON.stringify(median(times.slice(2))));
