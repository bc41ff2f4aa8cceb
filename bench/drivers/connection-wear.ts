// Runs many calls and reconnects on a host and prints leaked memory, handles and processes. Needs --expose-gc. Argument: { host, http,
// stdio, calls, reconnects, restarts } as JSON; restarts are reconnects of the process.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type * as HostPackage from 'toolplane/host';
import { readHeap } from './heap.ts';
import { entryOf, type Target } from './mcp-caller.ts';

export type Wear = {
  host: string;
  http: Target;
  stdio: Target;
  calls: number;
  reconnects: number;
  restarts: number;
};
export type WearReport = { grownBytes: number; handles: string[]; processes: string[] };

/** Maximum time for sockets and processes to end after the host is closed. */
const SETTLE_MS = 1000;

const wear = JSON.parse(process.argv[2] ?? '{}') as Wear;
const { createHost } = (await import(wear.host)) as typeof HostPackage;
// The streams of this process are created at their first use; they are not leaked by the host.
void [process.stdout, process.stderr];
const handlesBefore = process.getActiveResourcesInfo();
const host = createHost({ mcpServers: { http: entryOf(wear.http), stdio: entryOf(wear.stdio) } });
await host.ready({ servers: ['http', 'stdio'] });

await use({ calls: 2000, reconnects: 50, restarts: 5 });
const before = await settledHeap();
await use(wear);
const grownBytes = (await settledHeap()) - before;
await host.close();
for (let waited = 0; waited < SETTLE_MS && isAnythingLeft(); waited += 20) await wait(20);
const report: WearReport = { grownBytes, handles: handlesLeft(), processes: children() };
console.log(JSON.stringify(report));
process.exit(0);

async function use({ calls, reconnects, restarts }: Pick<Wear, 'calls' | 'reconnects' | 'restarts'>) {
  for (let n = 0; n < calls; n += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => host.callTool(i % 2 ? 'http' : 'stdio', 'say', { n })),
    );
  }
  for (let n = 0; n < reconnects; n++) await reconnect('http');
  for (let n = 0; n < restarts; n++) await reconnect('stdio');
}

/** Finalizers run in later turns of the event loop and may release more memory. */
async function settledHeap(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    readHeap();
    await wait(20);
  }
  return readHeap();
}

async function reconnect(name: string): Promise<void> {
  const { state, cause } = await host.reconnect(name);
  if (state !== 'connected') throw new Error(`"${name}" is ${state}: ${cause?.message}`);
}

function isAnythingLeft(): boolean {
  return handlesLeft().length > 0 || children().length > 0;
}

/** Resources that keep the event loop alive now and did not before. */
function handlesLeft(): string[] {
  const known = [...handlesBefore];
  return process.getActiveResourcesInfo().filter((kind) => {
    const index = known.indexOf(kind);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}

/** Child processes; empty if the kernel does not list them. */
function children(): string[] {
  try {
    const { pid } = process;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  } catch {
    return [];
  }
}
