// Lists the tools of one server repeatedly over one connection, through the host or the SDK's own client.
// Arguments: the side and the target as JSON. Each line on stdin is answered with the milliseconds of one listing.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as HostPackage from 'toolplane/host';
import { connectBare, entryOf, type Side, type Target } from './mcp-caller.ts';

type Listed = readonly { name: string; description?: string | undefined }[];
type Lister = { list(): Promise<Listed>; close(): Promise<void> };

/** The host requests a list again only after it expires, and at most once a second. */
const PAUSE_MS = 1_100;
const TOOLS = 1_000;

const [side, target] = process.argv.slice(2).map((arg) => JSON.parse(arg)) as [Side, Target];
let before = '';
const lister = await open();
for await (const _ of createInterface(process.stdin)) {
  await sleep(PAUSE_MS);
  const since = performance.now();
  const tools = await lister.list();
  const ms = performance.now() - since;
  const stamp = tools[0]?.description ?? '';
  if (tools.length !== TOOLS || !stamp.startsWith('list ') || stamp === before) {
    throw new Error(`${tools.length} tools, of "${stamp}" after "${before}"`);
  }
  before = stamp;
  console.log(JSON.stringify(ms));
}
await lister.close();

async function open(): Promise<Lister> {
  if (side.who === 'bare') {
    const client = await connectBare(target);
    return { list: async () => (await client.listTools()).tools, close: () => client.close() };
  }
  const { createHost } = (await import(side.host)) as typeof HostPackage;
  const host = createHost({ mcpServers: { long: entryOf(target) } });
  await host.ready({ servers: ['long'] });
  before = (await host.listTools())[0]?.description ?? '';
  return { list: () => host.listTools(), close: () => host.close() };
}
