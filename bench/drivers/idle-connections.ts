// Opens many idle connections and prints the heap use of one, in bytes. Needs --expose-gc.
// Argument: { side, warm, targets } as JSON.
import type * as HostPackage from 'toolplane/host';
import type { ConnectMany } from './connect-many.ts';
import { readHeap } from './heap.ts';
import { connectBare, entryOf, openCaller } from './mcp-caller.ts';

const { side, warm, targets } = JSON.parse(process.argv[2] ?? '{}') as Omit<ConnectMany, 'silent'>;
const first = await openCaller(side, warm);
await first.call(1);
const before = readHeap();
const held = await hold();
console.log(JSON.stringify((readHeap() - before) / targets.length));
await held.close();
process.exit(0);

async function hold(): Promise<{ close(): Promise<unknown> }> {
  if (side.who === 'bare') {
    const clients = await Promise.all(
      targets.map(async (target) => {
        const client = await connectBare(target);
        await client.listTools();
        return client;
      }),
    );
    return { close: () => Promise.all(clients.map((client) => client.close())) };
  }
  const { createHost } = (await import(side.host)) as typeof HostPackage;
  const entries = targets.map((target, index) => [`server-${index}`, entryOf(target)]);
  const host = createHost({ mcpServers: Object.fromEntries(entries) });
  await host.ready();
  const { length } = await host.listTools();
  if (length !== targets.length) throw new Error(`${length} of ${targets.length} servers connected`);
  return host;
}
