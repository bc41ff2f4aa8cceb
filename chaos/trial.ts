// Runs one client with one fault in its own process: node trial.ts FAULT CONTENDER DIRECTORY [--quick]
import { setTimeout as sleep } from 'node:timers/promises';
import { Scope } from '../src/base/async/scope.ts';
import type { ServerStatus } from '../src/entry/host.ts';
import type { Session } from './contender.ts';
import { CONTENDERS, type ContenderName } from './contenders/table.ts';
import { lacking } from './explained.ts';
import type { Fault, Stage } from './fault.ts';
import { FAULTS } from './faults/table.ts';
import { check, eventually, outcome, reasonOf, short } from './judge.ts';
import { judgeEnd } from './judge-end.ts';
import { PATIENCE } from './patience.ts';
import { setStage } from './stage.ts';
import type { TrialMessage, Verdict } from './verdict.ts';

const [faultName = '', contenderName = '', directory = '', quick] = process.argv.slice(2);

// An unhandled rejection would end the user's program.
process.on('uncaughtException', (cause) =>
  tell({ pass: false, note: `uncaught: ${short(reasonOf(cause))}` }),
);

send({ patience: PATIENCE });
tell(await judge(FAULTS[faultName] as Fault, contenderName as ContenderName));

async function judge(fault: Fault, name: ContenderName): Promise<Verdict> {
  await using scope = new Scope();
  const isQuick = quick === '--quick';
  const contender = await CONTENDERS[name]();
  const { stage, opened } = setStage({ name, contender, directory, isQuick, scope });
  const verdict = await play(fault, stage, opened);
  const closing = await outcome(10_000, Promise.all([...opened].map((session) => session.close())));
  return judgeEnd(verdict, closing, () => stage.events.left(3_000));
}

async function play(fault: Fault, stage: Stage, opened: ReadonlySet<Session>): Promise<Verdict> {
  try {
    const note = await fault.play(stage);
    const words: string[] = [];
    for (const session of opened) words.push(...(await explain(session, fault.remains ?? [])));
    return { pass: true, note: short(words[0] ?? note ?? '', 400) };
  } catch (cause) {
    return { pass: false, note: short(reasonOf(cause), 400) };
  }
}

/** What `status()` says about each broken server, if the client has it; an insufficient explanation fails the fault. */
async function explain({ status }: Session, remains: readonly string[]): Promise<string[]> {
  if (!status) return [];
  const told = (server: string, now: ServerStatus | undefined) => {
    const lack = lacking(server, now);
    check(lack === undefined, lack ?? '');
    return `${now?.state}: ${now?.cause?.message}`;
  };
  // A flapping server may be connected at this moment.
  const words = remains.map((server) =>
    eventually(3_000, 'status()', async () => told(server, status()[server])),
  );
  const others = Object.entries(status()).filter(
    ([, { state }]) => state === 'failed' || state === 'needs-auth',
  );
  return [...(await Promise.all(words)), ...others.map(([server, now]) => told(server, now))];
}

function tell(verdict: Verdict): void {
  send({ verdict }, () => process.exit(0));
  void sleep(1_000).then(() => process.exit(0));
}

function send(message: TrialMessage, sent: () => void = () => {}): void {
  process.send?.(message, sent);
}
