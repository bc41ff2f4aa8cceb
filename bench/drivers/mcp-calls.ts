// Calls a tool of a minimal server through the host, the SDK's own client or no client. Arguments: the side and the target as JSON.
// Each line on stdin is a list of loads as JSON, answered by a line with a figure for each.
import { createInterface } from 'node:readline';
import { median } from '../median.ts';
import { type Caller, openCaller, type RawSide, type Side, type Target } from './mcp-caller.ts';

/** With one call in flight the figure is the p50 in microseconds, with several it is calls per second. */
export type Load = { calls: number; inFlight: number };

const [side, target] = process.argv.slice(2).map((arg) => JSON.parse(arg)) as [Side | RawSide, Target];
const caller = await openCaller(side, target);
for await (const line of createInterface(process.stdin)) {
  const figures: number[] = [];
  for (const load of JSON.parse(line) as Load[]) figures.push(await run(caller, load));
  console.log(JSON.stringify(figures));
}
await caller.close();

async function run(caller: Caller, { calls, inFlight }: Load): Promise<number> {
  const times: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next < calls) {
      const n = next++;
      const since = performance.now();
      const result = await caller.call(n);
      times.push(performance.now() - since);
      if (textOf(result) !== String(n)) throw new Error(`call ${n} got ${JSON.stringify(result)}`);
    }
  };
  const since = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - since) / 1000;
  return inFlight === 1 ? median(times) * 1000 : calls / seconds;
}

function textOf(result: unknown): string | undefined {
  return (result as { content: { text?: string }[] }).content[0]?.text;
}
