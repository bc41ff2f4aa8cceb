import { fileURLToPath } from 'node:url';
import type { LongListUrl } from '../../drivers/long-list-http.ts';
import type { Side, Target } from '../../drivers/mcp-caller.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { interleave } from '../../rounds.ts';
import { compare, type Row } from '../../row.ts';
import { BARE, ourHost } from '../connect/tiny-servers.ts';

const ROUNDS = { quick: 8, default: 20, full: 40 };
/** Rounds before the measurement. */
const WARM_UP = 4;

const STDIO: Target = {
  script: fileURLToPath(new URL('../../drivers/long-list-stdio.ts', import.meta.url)),
};

/** `listTools()` of the host and of the SDK's own client, over open connections. */
export async function measureListing(context: GroupContext): Promise<Row[]> {
  await using server = context.lab.converse<LongListUrl>('long-list-http', []);
  const { url } = await server.ask('where');
  return [await measure(context, 'http', { url }), await measure(context, 'stdio', STDIO)];
}

async function measure(context: GroupContext, transport: string, target: Target): Promise<Row> {
  const open = (side: Side) => context.lab.converse<number>('list-tools', [side, target]);
  await using ours = open(ourHost(context));
  await using bare = open(BARE);
  const rounds = ROUNDS[context.effort] + WARM_UP;
  const times = await interleave<'ours' | 'bare', number>(
    rounds,
    { ours: () => ours.ask('list'), bare: () => bare.ask('list') },
    (round) => context.progress(`listing 1,000 tools, ${transport}, round ${round} of ${rounds}`),
  );
  const of = (all: readonly number[]) => median(all.slice(WARM_UP));
  return compare(`1,000 tools listed over ${transport} (ms)`, of(times.ours), of(times.bare), {
    is: '<=',
    limit: 0.6,
  });
}
