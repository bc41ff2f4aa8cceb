import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RawSide } from '../drivers/mcp-caller.ts';
import type { Load } from '../drivers/mcp-calls.ts';
import type { ServerModules, ServerName } from '../drivers/serve-http.ts';
import type { GroupContext } from '../group.ts';
import { ROOT } from '../lab.ts';
import { median } from '../median.ts';
import { interleave } from '../rounds.ts';
import { compare, type Row } from '../row.ts';

/** The number of times that all servers are restarted. */
const RESTARTS = { quick: 1, default: 3, full: 5 };
const ROUNDS = { quick: 5, default: 10, full: 20 };
const IN_FLIGHT = 16;
const WARM_UP: Load = { calls: 3000, inFlight: IN_FLIGHT };
const BURST: Load = { calls: 1000, inFlight: IN_FLIGHT };

type Contender = { server: ServerName; mode: NonNullable<RawSide['mode']> };

/** Official servers, and the revision of MCP in which they and ours are measured. */
const COMPARISONS: readonly (Contender & { title: string })[] = [
  { server: 'session', mode: 'session', title: 'sessions, JSON responses' },
  { server: 'handler', mode: 'stateless', title: 'stateless, createMcpHandler' },
];

/** Tool servers over HTTP, compared with the official servers. */
export async function serve(context: GroupContext): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { title, ...official } of COMPARISONS) {
    const figures: Record<'ours' | 'official', number[]> = { ours: [], official: [] };
    for (let restart = 0; restart < RESTARTS[context.effort]; restart++) {
      context.progress(`${title}, restart ${restart + 1} of ${RESTARTS[context.effort]}`);
      const { ours, official: others } = await measureOnce(context, official);
      figures.ours.push(...ours);
      figures.official.push(...others);
    }
    const name = `http tools/call ${IN_FLIGHT}-way throughput, ${title} (calls/s)`;
    rows.push(compare(name, median(figures.ours), median(figures.official), { is: '>=', limit: 2 }));
  }
  return rows;
}

async function measureOnce(
  context: GroupContext,
  official: Contender,
): Promise<Record<'ours' | 'official', number[]>> {
  await using drivers = new AsyncDisposableStack();
  const start = async ({ server, mode }: Contender) => {
    const process = drivers.use(
      context.lab.converse<{ url: string }>('serve-http', [server, modulesOf(context)]),
    );
    const side: RawSide = { who: 'raw', mode };
    const target = await process.ask('where');
    const caller = drivers.use(context.lab.converse<number[]>('mcp-calls', [side, target]));
    await caller.ask([WARM_UP]);
    return async () => (await caller.ask([BURST]))[0] ?? Number.NaN;
  };
  const bursts = {
    ours: await start({ server: 'ours', mode: official.mode }),
    official: await start(official),
  };
  return await interleave(ROUNDS[context.effort], bursts, () => {});
}

function modulesOf({ packageDir }: GroupContext): ServerModules {
  const url = (directory: string, file: string) => pathToFileURL(join(directory, file)).href;
  const peers = join(ROOT, 'interop/node_modules');
  return {
    ours: url(packageDir, 'dist/entry/index.js'),
    zod: url(ROOT, 'node_modules/zod/index.js'),
    server: url(peers, '@modelcontextprotocol/server/dist/index.mjs'),
    node: url(peers, '@modelcontextprotocol/node/dist/index.mjs'),
    officialZod: url(peers, 'zod/index.js'),
  };
}
