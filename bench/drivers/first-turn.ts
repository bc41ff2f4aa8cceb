// How long a query takes to its first sign of life. Arguments: the contender as JSON, and "own" for our host in this
// process with a scripted model, or "cli" for a real agent CLI. Prints { warm, second } or { init }, in milliseconds.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from '../../test/world/model-reply.ts';
import { openCliWorld } from '../../test/world/real-cli.ts';
import { median } from '../median.ts';
import { loadAgentSdk } from './agent-sdk.ts';

export type OwnFirstTurn = { warm: number; second: number };
export type CliFirstTurn = { init: number };

const SECOND_ROUNDS = 31;

const [, , contender, agent] = process.argv;
const sdk = await loadAgentSdk(contender);
console.log(JSON.stringify(JSON.parse(agent ?? '""') === 'cli' ? await startCli() : await startOwn()));

/** From the call to the model's first reply, which comes after the first request. */
async function startOwn(): Promise<OwnFirstTurn> {
  const file = join(mkdtempSync(join(tmpdir(), 'script-')), 'replies.json');
  writeFileSync(file, JSON.stringify(['Hello.']));
  const options = { model: `scripted:${file}`, persistSession: false, tools: [] };
  const warmQuery = await sdk.startup({ options });
  const warm = await timeTo('assistant', () => warmQuery.query('hi'));
  const times: number[] = [];
  for (let round = 0; round < SECOND_ROUNDS; round++) {
    times.push(await timeTo('assistant', () => sdk.query({ prompt: 'hi', options })));
  }
  return { warm, second: median(times) };
}

async function startCli(): Promise<CliFirstTurn> {
  await using world = await openCliWorld(() => text('Hello.'));
  const { cli: pathToClaudeCodeExecutable, env, cwd } = world;
  const options = { pathToClaudeCodeExecutable, env, cwd, settingSources: [], tools: [] };
  return { init: await timeTo('system', () => sdk.query({ prompt: 'hi', options })) };
}

async function timeTo(type: string, start: () => AsyncIterable<{ type: string }>): Promise<number> {
  const since = performance.now();
  let first: number | undefined;
  for await (const message of start()) {
    if (message.type === type) first ??= performance.now() - since;
  }
  return first ?? Number.NaN;
}
