import type { RawSide, Side, Target } from '../../drivers/mcp-caller.ts';
import type { Load } from '../../drivers/mcp-calls.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { boundableProcessors } from '../../processors.ts';
import { interleave } from '../../rounds.ts';
import { compare, type Row } from '../../row.ts';
import { BARE, ourHost, RAW, STDIO, serveHttp } from './tiny-servers.ts';

/** The number of times that all sides are restarted. */
const RESTARTS = { quick: 2, default: 4, full: 6 };
const ROUNDS = { quick: 15, default: 40, full: 60 };
const IN_FLIGHT = 64;

const WARM_UP: readonly Load[] = [
  { calls: 4000, inFlight: IN_FLIGHT },
  { calls: 2000, inFlight: 1 },
];
const ONE_BY_ONE: Load = { calls: 100, inFlight: 1 };
const MANY_AT_ONCE: Load = { calls: 1000, inFlight: IN_FLIGHT };

type Transport = 'stdio' | 'http';
type Name = 'ours' | 'bare' | 'raw';

/** Tool calls through the host, the SDK's own client and raw requests: latency and throughput. */
export async function measureCalls(context: GroupContext): Promise<Row[]> {
  return [...(await measureStdio(context)), ...(await measureHttp(context))];
}

async function measureStdio(context: GroupContext): Promise<Row[]> {
  const sides = { ours: ourHost(context), bare: BARE };
  const one = await measure(context, 'stdio', sides, ONE_BY_ONE);
  const many = await measure(context, 'stdio', sides, MANY_AT_ONCE);
  return [
    compare('callTool p50, stdio (µs)', one.ours, one.bare, { is: '<=', limit: 1.1 }),
    compare(`callTool ${IN_FLIGHT}-way throughput, stdio (calls/s)`, many.ours, many.bare, {
      is: '>=',
      limit: 0.9,
    }),
  ];
}

async function measureHttp(context: GroupContext): Promise<Row[]> {
  const sides = { ours: ourHost(context), bare: BARE };
  const one = await measure(context, 'http', { ...sides, raw: RAW }, ONE_BY_ONE);
  const many = await measure(context, 'http', sides, MANY_AT_ONCE);
  return [
    compare('callTool p50, http (µs)', one.ours, one.bare, { is: '<=', limit: 0.65 }),
    compare('callTool p50, http, against a raw undici request (µs)', one.ours, one.raw, {
      is: '<=',
      limit: 1.5,
    }),
    compare(`callTool ${IN_FLIGHT}-way throughput, http (calls/s)`, many.ours, many.bare, {
      is: '>=',
      limit: 2,
    }),
  ];
}

/** The median of each side over all restarts. */
async function measure<Sides extends Partial<Record<Name, Side | RawSide>>>(
  context: GroupContext,
  transport: Transport,
  sides: Sides,
  load: Load,
): Promise<Record<keyof Sides, number>> {
  const restarts = RESTARTS[context.effort];
  const figures = new Map<string, number[]>();
  for (let restart = 0; restart < restarts; restart++) {
    context.progress(`${transport}, ${load.inFlight} in flight, restart ${restart + 1} of ${restarts}`);
    const measured = await measureOnce(
      context,
      transport,
      sides as Record<string, Side | RawSide>,
      load,
      restart,
    );
    for (const [name, values] of Object.entries(measured))
      figures.set(name, [...(figures.get(name) ?? []), ...values]);
  }
  return Object.fromEntries(Array.from(figures, ([name, values]) => [name, median(values)])) as Record<
    keyof Sides,
    number
  >;
}

/**
 * All sides stay warm and take turns. One call at a time is measured with everything on one processor, as in the group
 * `control`; many at once are left to the scheduler, since caller and server then work at the same time.
 */
async function measureOnce(
  context: GroupContext,
  transport: Transport,
  sides: Readonly<Record<string, Side | RawSide>>,
  load: Load,
  restart: number,
): Promise<Record<string, number[]>> {
  const processors = boundableProcessors();
  const isAlone = load.inFlight === 1;
  const options = isAlone ? { processor: processors[restart % processors.length] } : {};
  await using servers = await serveHttp(context, { count: 1 }, options);
  const target: Target = transport === 'stdio' ? STDIO : (servers.targets[0] as Target);
  await using drivers = new AsyncDisposableStack();
  const bursts: Record<string, () => Promise<number>> = {};
  for (const [name, side] of Object.entries(sides)) {
    const driver = drivers.use(context.lab.converse<number[]>('mcp-calls', [side, target], options));
    await driver.ask(WARM_UP);
    bursts[name] = async () => (await driver.ask([load]))[0] ?? Number.NaN;
  }
  return await interleave(ROUNDS[context.effort], bursts, () => {});
}
