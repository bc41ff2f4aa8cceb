// Runs many agents in one process for one turn. Arguments: the contender as JSON, the number of agents, and what they are:
// "with-tool" agents have a tool of their own that the scripted model calls, and store nothing; "plain" ones are as they
// are without options. Needs --expose-gc. Prints { bytes, failures }: heap per idle agent.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adders, loadAgentSdk } from './agent-sdk.ts';
import { readHeap } from './heap.ts';

export type ManyAgents = { bytes: number; failures: number };

const [, , contender, count, kind] = process.argv;
const sdk = await loadAgentSdk(contender);
const file = join(mkdtempSync(join(tmpdir(), 'script-')), 'replies.json');
const call = { tool: 'mcp__calc__add_0', input: { a: 2, b: 40 } };
const isPlain = JSON.parse(kind ?? '""') === 'plain';
writeFileSync(file, JSON.stringify(isPlain ? ['The sum is 42.'] : [call, 'The sum is 42.']));
const open = async () => {
  if (isPlain) return sdk.AgentClient.open({ model: `scripted:${file}` });
  const options = { model: `scripted:${file}`, persistSession: false, allowedTools: ['mcp__calc'] };
  return sdk.AgentClient.open({ ...options, mcpServers: { calc: await adders(sdk, contender, 1) } });
};
const first = await open();
await first.ask('Add.');
const before = readHeap();
const agents = await Promise.all(Array.from({ length: Number(count) }, open));
const results = await Promise.all(agents.map((agent) => agent.ask('Add.')));
const report: ManyAgents = {
  bytes: (readHeap() - before) / agents.length,
  failures: results.filter(({ result }) => result !== 'The sum is 42.').length,
};
await Promise.all([first, ...agents].map((agent) => agent.close()));
console.log(JSON.stringify(report));
