// Measures the time from query() to its first message. Arguments: the contender as JSON, and "own" for our host in this
// process with a scripted model, or "cli" for a real agent CLI. Prints { warm, second } or { init }, in milliseconds.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from '../../test/support/model-api/model-reply.ts';
import { openCliSandbox } from '../../test/support/real-cli.ts';
import { median } from '../median.ts';
import { loadAgentSdk, type Message } from './agent-sdk.ts';

export type OwnFirstTurn = { warm: number; second: number };
export type CliFirstTurn = { init: number };

const SECOND_ROUNDS = 31;

const [, , contender, agent] = process.argv;
const sdk = await loadAgentSdk(contender);
console.log(JSON.stringify(JSON.parse(agent ?? '""') === 'cli' ? await startCli() : await startOwn()));

/** Time from the call to the first model request, which is reported with partial messages. */
async function startOwn(): Promise<OwnFirstTurn> {
  const file = join(mkdtempSync(join(tmpdir(), 'script-')), 'replies.json');
  writeFileSync(file, JSON.stringify(['Hello.']));
  const options = {
    model: `scripted:${file}`,
    persistSession: false,
    tools: [],
    includePartialMessages: true,
  };
  const warmQuery = await sdk.startup({ options });
  const warm = await timeTo('requesting', () => warmQuery.query('hi'));
  const times: number[] = [];
  for (let round = 0; round < SECOND_ROUNDS; round++) {
    times.push(await timeTo('requesting', () => sdk.query({ prompt: 'hi', options })));
  }
  return { warm, second: median(times) };
}

async function startCli(): Promise<CliFirstTurn> {
  await using world = await openCliSandbox(() => text('Hello.'));
  const { cli: pathToClaudeCodeExecutable, env, cwd } = world;
  const options = { pathToClaudeCodeExecutable, env, cwd, settingSources: [], tools: [] };
  return { init: await timeTo('init', () => sdk.query({ prompt: 'hi', options })) };
}

/** Time to the first message with this subtype or status. */
async function timeTo(word: string, start: () => AsyncIterable<Message>): Promise<number> {
  const since = performance.now();
  let first: number | undefined;
  for await (const message of start()) {
    if (message.subtype === word || message.status === word) first ??= performance.now() - since;
  }
  return first ?? Number.NaN;
}
