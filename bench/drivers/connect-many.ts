// Connects to many servers. Argument: { side, warm, targets, silent } as JSON. Prints the milliseconds until the last of
// those that answer has come and its tools are listed.
import type * as HostPackage from 'toolplane/host';
import { connectBare, entryOf, openCaller, type Side, type Target } from './mcp-caller.ts';

/** `warm` is dialled beforehand: what the first connection of a process costs is no cost of a batch. */
export type ConnectMany = { side: Side; warm: Target; targets: Target[]; silent: number };

/** What the host dials at a time, and what an ideal batch is. */
const BATCH = 20;

const { side, warm, targets, silent } = JSON.parse(process.argv[2] ?? '{}') as ConnectMany;
await (await openCaller(side, warm)).close();
console.log(JSON.stringify(side.who === 'bare' ? await inBatches() : await throughHost(side.host)));
process.exit(0);

/** Each batch begins when the one before is through. */
async function inBatches(): Promise<number> {
  const since = performance.now();
  for (let first = 0; first < targets.length; first += BATCH) {
    await Promise.all(
      targets.slice(first, first + BATCH).map(async (target) => {
        await (await connectBare(target)).listTools();
      }),
    );
  }
  return performance.now() - since;
}

/** The first `silent` targets never answer; the others are waited for. */
async function throughHost(url: string): Promise<number> {
  const { createHost } = (await import(url)) as typeof HostPackage;
  const names = targets.map((_, index) => `server-${index}`);
  const entries = targets.map((target, index) => [names[index], entryOf(target)]);
  const since = performance.now();
  const host = createHost({ mcpServers: Object.fromEntries(entries) });
  await host.ready({ servers: names.slice(silent) });
  const ms = performance.now() - since;
  const listed = (await host.listTools()).length;
  if (listed !== targets.length - silent) throw new Error(`${listed} tools of ${targets.length - silent}`);
  return ms;
}
