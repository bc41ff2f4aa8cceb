// One conversation of many turns, which is stored and compacted. Arguments: the URL of the agent's modules and the number of
// turns. Needs --expose-gc. Prints a report.
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { median } from '../median.ts';
import { openCountedSession } from './counted-session.ts';
import { readHeap } from './heap.ts';

export type LongConversation = {
  readonly id: string;
  /** The time of a turn without the model: around turn 10, and in the second half. */
  readonly early: number;
  readonly late: number;
  /** Heap after garbage collection, right after a compaction: in the first tenth, and at the end. */
  readonly heapBefore: number;
  readonly heapAfter: number;
  readonly compactions: number;
  /** The largest number of messages in a request. */
  readonly messages: number;
  readonly transcriptMegabytes: number;
};

const [, , module, count] = process.argv.map((arg, at) => (at > 1 ? JSON.parse(arg) : arg));
const turns = Number(count);
/** Short conversations, in turns with the long one: their turns 6 to 15 are the measure of turn 10. */
const SHORT = 15;
const SHORT_RUNS = 20;

const early: number[] = [];
async function runShort(): Promise<void> {
  await using short = await openCountedSession(module);
  for (let turn = 1; turn <= SHORT; turn++) {
    const ms = await short.turn();
    if (turn > 5) early.push(ms);
  }
}

for (let run = 0; run < SHORT_RUNS; run++) await runShort();
early.length = 0;

const late: number[] = [];
const heaps: number[] = [];
let messages = 0;
const session = await openCountedSession(module);
for (let turn = 1; turn <= turns; turn++) {
  const before = session.compactions();
  const ms = await session.turn();
  if (turn > turns / 2) {
    late.push(ms);
    if (turn % Math.ceil(turns / 2 / SHORT_RUNS) === 0) await runShort();
  }
  messages = Math.max(messages, session.messages());
  // Right after a compaction, so that the length of the conversation is always the same.
  if (session.compactions() > before) heaps.push(readHeap());
}
const { id } = session;
const compactions = session.compactions();
await session[Symbol.asyncDispose]();
const report: LongConversation = {
  id,
  early: median(early),
  late: median(late),
  heapBefore: heaps[Math.floor(heaps.length / 10)] ?? Number.NaN,
  heapAfter: heaps.at(-1) ?? Number.NaN,
  compactions,
  messages,
  transcriptMegabytes: transcriptSize(id) / 1_000_000,
};
console.log(JSON.stringify(report));

function transcriptSize(sessionId: string): number {
  const root = join(homedir(), '.toolplane', 'projects');
  const file = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith(`${sessionId}.jsonl`),
  );
  return file === undefined ? 0 : readFileSync(join(root, file)).length;
}
