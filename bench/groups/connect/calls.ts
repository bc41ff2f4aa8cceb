import type { Side, Target } from '../../drivers/mcp-caller.ts';
import type { Load } from '../../drivers/mcp-calls.ts';
import type { GroupContext } from '../../group.ts';
import type { Conversation } from '../../lab.ts';
import { median } from '../../median.ts';
import { boundableProcessors } from '../../processors.ts';
import { interleave } from '../../rounds.ts';
import { compare, type Target as Limit, type Row } from '../../row.ts';
import { BARE, ourHost, STDIO, serveHttp } from './tiny-servers.ts';

/** How often both sides are started anew. */
const SITTINGS = { quick: 2, default: 4, full: 6 };
const ROUNDS = { quick: 15, default: 40, full: 60 };
const IN_FLIGHT = 64;

const WARM_UP: readonly Load[] = [
  { calls: 4000, inFlight: IN_FLIGHT },
  { calls: 2000, inFlight: 1 },
];
const ONE_BY_ONE: Load = { calls: 100, inFlight: 1 };
const MANY_AT_ONCE: Load = { calls: 1000, inFlight: IN_FLIGHT };

type Transport = 'stdio' | 'http';
type Name = 'ours' | 'bare';

/** One tool call through the host and through the bare client: how long one takes, and how many a second there are. */
export async function measureCalls(context: GroupContext): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [transport, { p50, throughput }] of Object.entries(LIMITS)) {
    const one = await measure(context, transport as Transport, ONE_BY_ONE);
    const many = await measure(context, transport as Transport, MANY_AT_ONCE);
    rows.push(
      compare(`callTool p50, ${transport} (µs)`, ...one, p50),
      compare(`callTool ${IN_FLIGHT}-way throughput, ${transport} (calls/s)`, ...many, throughput),
    );
  }
  return rows;
}

const LIMITS: Readonly<Record<Transport, { p50: Limit; throughput: Limit }>> = {
  stdio: { p50: { is: '<=', limit: 1.1 }, throughput: { is: '>=', limit: 0.9 } },
  http: { p50: { is: '<=', limit: 0.65 }, throughput: { is: '>=', limit: 2 } },
};

async function measure(
  context: GroupContext,
  transport: Transport,
  load: Load,
): Promise<[ours: number, bare: number]> {
  const sittings = SITTINGS[context.effort];
  const figures: Record<Name, number[]> = { ours: [], bare: [] };
  for (let sitting = 0; sitting < sittings; sitting++) {
    context.progress(`${transport}, ${load.inFlight} in flight, sitting ${sitting + 1} of ${sittings}`);
    const { ours, bare } = await sit(context, transport, load, sitting);
    figures.ours.push(...ours);
    figures.bare.push(...bare);
  }
  return [median(figures.ours), median(figures.bare)];
}

/**
 * Both sides stay warm and take turns. One call at a time is measured with everything on one processor, as in the group
 * `control`; many at once are left to the scheduler, since caller and server then work at the same time.
 */
async function sit(
  context: GroupContext,
  transport: Transport,
  load: Load,
  sitting: number,
): Promise<Record<Name, number[]>> {
  const processors = boundableProcessors();
  const isAlone = load.inFlight === 1;
  const options = isAlone ? { processor: processors[sitting % processors.length] } : {};
  await using servers = await serveHttp(context, { count: 1 }, options);
  const target: Target = transport === 'stdio' ? STDIO : (servers.targets[0] as Target);
  const open = (side: Side) => context.lab.converse<number[]>('mcp-calls', [side, target], options);
  await using ours = open(ourHost(context));
  await using bare = open(BARE);
  for (const side of [ours, bare]) await side.ask(WARM_UP);
  const burst = (side: Conversation<number[]>) => async () => (await side.ask([load]))[0] ?? Number.NaN;
  return await interleave<Name, number>(
    ROUNDS[context.effort],
    { ours: burst(ours), bare: burst(bare) },
    () => {},
  );
}
