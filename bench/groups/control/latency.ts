import { contenders } from '../../contenders.ts';
import type { StandInReport, Step } from '../../drivers/steps.ts';
import type { GroupContext } from '../../group.ts';
import type { Conversation } from '../../lab.ts';
import { median } from '../../median.ts';
import { boundableProcessors } from '../../processors.ts';
import { interleave } from '../../rounds.ts';
import { compare, type Row } from '../../row.ts';

/** The number of restarts of all sides: memory layout differs between processes. */
const RESTARTS = { quick: 2, default: 5, full: 5 };
const ROUNDS = 60;

/** V8 optimizes this code until about this many calls. */
const WARM_UP: readonly Step[] = [
  { kind: 'verify', calls: 100 },
  { kind: 'parallel', calls: 5_000, inFlight: 64, name: 'warm-up in bulk' },
  { kind: 'sequential', calls: 25_000, name: 'warm-up' },
];
const BURST: readonly Step[] = [{ kind: 'sequential', calls: 250, name: 'round trip' }];
const CHECK: readonly Step[] = [{ kind: 'verify', calls: 100 }];

type Side = 'ours' | 'official' | 'echo';

/**
 * The latency of a call with nothing else in flight. All sides are kept warm and take turns of a few milliseconds, so
 * that a slow phase of the machine affects all of them. Drivers and stand-ins share one processor, another one after each
 * restart: otherwise the scheduler moves them between processors, and waking an idle processor takes longer than the call.
 */
export async function measureLatency(context: GroupContext): Promise<Row[]> {
  const restarts = RESTARTS[context.effort];
  const times: Record<Side, number[]> = { ours: [], official: [], echo: [] };
  for (let restart = 0; restart < restarts; restart++) {
    context.progress(`latency, restart ${restart + 1} of ${restarts}`);
    const measured = await measureOnce(context, restart);
    for (const side of SIDES) times[side].push(...measured[side]);
  }
  const echo = 'tools/call p50 against a raw line echo over the same kind of pipe (µs)';
  const p50 = (side: Side) => median(times[side]);
  return [
    compare('tools/call p50 (µs)', p50('ours'), p50('official'), { is: '<=', limit: 0.7 }),
    compare(echo, p50('ours'), p50('echo'), { is: '<=', limit: 1.5 }),
  ];
}

const SIDES: readonly Side[] = ['ours', 'official', 'echo'];

async function measureOnce(
  { lab, packageDir }: GroupContext,
  restart: number,
): Promise<Record<Side, number[]>> {
  const { ours, official } = contenders(packageDir);
  const processors = boundableProcessors();
  const options = { processor: processors[restart % processors.length] };
  await using our = lab.converse<StandInReport>('calls', [ours], options);
  await using theirs = lab.converse<StandInReport>('calls', [official], options);
  await using floor = lab.converse<StandInReport>('echo', [], options);
  // The echo has no results to verify.
  for (const side of [our, theirs]) await side.ask(WARM_UP);
  await floor.ask(WARM_UP.slice(1));
  const burst = (side: Conversation<StandInReport>) => async () =>
    (await side.ask(BURST)).measured['round trip'] ?? Number.NaN;
  const measured = await interleave<Side, number>(
    ROUNDS,
    { ours: burst(our), official: burst(theirs), echo: burst(floor) },
    () => {},
  );
  for (const side of [our, theirs]) await side.ask(CHECK);
  return measured;
}
