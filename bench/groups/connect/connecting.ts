import type { ConnectMany } from '../../drivers/connect-many.ts';
import type { Side, Target } from '../../drivers/mcp-caller.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { interleave } from '../../rounds.ts';
import { compare, limit, type Row } from '../../row.ts';
import { BARE, ourHost, serveHttp } from './tiny-servers.ts';

const ROUNDS = { quick: 3, default: 7, full: 11 };
const SERVERS = 100;
const AMONG = 30;
/** The response delay of a server. */
const DELAY_MS = 50;

/** Connecting many servers at the start of a host. */
export async function measureConnecting(context: GroupContext): Promise<Row[]> {
  return [await measureMany(context), await measureHung(context)];
}

/** The ideal is five batches of twenty SDK clients: a batch connects and lists concurrently, then the next one starts. */
async function measureMany(context: GroupContext): Promise<Row> {
  const { effort, progress } = context;
  await using servers = await serveHttp(context, { count: SERVERS + 1, delayMs: DELAY_MS });
  const { ours, ideal } = await interleave<'ours' | 'ideal', number>(
    ROUNDS[effort],
    {
      ours: () => connectMany(context, ourHost(context), servers.targets),
      ideal: () => connectMany(context, BARE, servers.targets),
    },
    (round) => progress(`${SERVERS} servers, round ${round} of ${ROUNDS[effort]}`),
  );
  const name = `${SERVERS} http servers of ${DELAY_MS} ms a request: connected (ms), against five ideal batches of 20`;
  return compare(name, median(ours), median(ideal), { is: '<=', limit: 1.3 });
}

/** The hung server is the first one. */
async function measureHung(context: GroupContext): Promise<Row> {
  const { effort, progress } = context;
  await using servers = await serveHttp(context, { count: AMONG + 1, delayMs: DELAY_MS, hung: 1 });
  const [hung, ...others] = servers.targets as [Target, ...Target[]];
  const without = others.slice(0, -1);
  const warm = others.at(-1) as Target;
  const { alone, beside } = await interleave<'alone' | 'beside', number>(
    ROUNDS[effort],
    {
      alone: () => connectMany(context, ourHost(context), [...without, warm]),
      beside: () => connectMany(context, ourHost(context), [hung, ...without.slice(1), warm], 1),
    },
    (round) => progress(`a hung server among ${AMONG}, round ${round} of ${ROUNDS[effort]}`),
  );
  const added = (median(beside) - median(alone)) / 1000;
  const name = `one hung server among ${AMONG}: added to the last of the others (s)`;
  return limit(name, added, `${(median(alone) / 1000).toFixed(2)} s without it`, { is: '<=', limit: 2 });
}

/** The last target is connected first, as a warm-up. */
function connectMany(
  context: GroupContext,
  side: Side,
  targets: readonly Target[],
  silent = 0,
): Promise<number> {
  const warm = targets.at(-1) as Target;
  const task: ConnectMany = { side, warm, targets: targets.slice(0, -1), silent };
  return context.lab.drive<number>('connect-many', [task]);
}
