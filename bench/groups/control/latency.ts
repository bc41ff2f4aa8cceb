import { contenders } from '../../contenders.ts';
import type { StandInReport, Step } from '../../drivers/steps.ts';
import type { GroupContext } from '../../group.ts';
import type { Conversation } from '../../lab.ts';
import { median } from '../../median.ts';
import { boundableProcessors } from '../../processors.ts';
import { interleave } from '../../rounds.ts';
import { compare, type Row } from '../../row.ts';

/** How often the three are started anew: where code and data come to lie differs from process to process. */
const SITTINGS = { quick: 2, default: 5, full: 5 };
const ROUNDS = 60;

/** The engine goes on improving code of this kind for that many calls, the less there is to do the longer. */
const WARM_UP: readonly Step[] = [
  { kind: 'verify', calls: 100 },
  { kind: 'parallel', calls: 5_000, inFlight: 64, name: 'warm-up in bulk' },
  { kind: 'sequential', calls: 25_000, name: 'warm-up' },
];
const BURST: readonly Step[] = [{ kind: 'sequential', calls: 250, name: 'round trip' }];
const CHECK: readonly Step[] = [{ kind: 'verify', calls: 100 }];

type Side = 'ours' | 'official' | 'echo';

/**
 * How long one call takes when nothing else is open. All sides are kept warm and take turns of some milliseconds, so that
 * a slow spell of the machine hits them alike. Drivers and stand-ins share a processor, another one each sitting: left
 * alone, the scheduler moves them together and apart as it likes, and waking an idle processor takes longer than the call.
 */
export async function measureLatency(context: GroupContext): Promise<Row[]> {
  const sittings = SITTINGS[context.effort];
  const times: Record<Side, number[]> = { ours: [], official: [], echo: [] };
  for (let sitting = 0; sitting < sittings; sitting++) {
    context.progress(`latency, sitting ${sitting + 1} of ${sittings}`);
    const measured = await sit(context, sitting);
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

async function sit({ lab, packageDir }: GroupContext, sitting: number): Promise<Record<Side, number[]>> {
  const { ours, official } = contenders(packageDir);
  const processors = boundableProcessors();
  const options = { processor: processors[sitting % processors.length] };
  await using our = lab.converse<StandInReport>('calls', [ours], options);
  await using theirs = lab.converse<StandInReport>('calls', [official], options);
  await using floor = lab.converse<StandInReport>('echo', [], options);
  // The echo answers always the same: there is nothing to verify.
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
