// Connects to many servers. Argument: { side, warm, targets, silent } as JSON. Prints the milliseconds until
// every server that responds is connected and its tools are listed.
import type * as HostPackage from 'toolplane/host';
import { connectBare, entryOf, openCaller, type Side, type Target } from './mcp-caller.ts';

/** `warm` is connected first, so that the cost of the first connection of a process is not measured. */
export type ConnectMany = { side: Side; warm: Target; targets: Target[]; silent: number };

/** The number of servers that the host connects at a time. */
const BATCH = 20;

const { side, warm, targets, silent } = JSON.parse(process.argv[2] ?? '{}') as ConnectMany;
await (await openCaller(side, warm)).close();
console.log(JSON.stringify(side.who === 'bare' ? await inBatches() : await throughHost(side.host)));
process.exit(0);

/** Connects in batches; each batch starts when the previous one is done. */
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

/** Waits for all targets except the first `silent` ones, which never respond. */
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
