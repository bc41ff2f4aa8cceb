// npm run chaos -- [--only FAULT] [--quick] [--ours] [--json]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../scripts/fresh-build.ts';
import { installPeers } from '../scripts/peers.ts';
import { CONTENDERS, type ContenderName } from './contenders/table.ts';
import type { Fault } from './fault.ts';
import { FAULTS } from './faults/table.ts';
import { formatReport } from './report.ts';
import { runTrial } from './run-trial.ts';
import type { Row, Verdict } from './verdict.ts';

const LIMIT_MS = 25_000;
const AT_A_TIME = 4;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    ours: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const say = (text: string) => void process.stderr.write(`${text}\n`);

const faults = chosen(flags.only);
if (!installPeers() || !buildIfStale({ output: 'stderr' })) process.exit(1);
const compiled = mkdtempSync(join(tmpdir(), 'toolplane-compiled-'));
// Each trial is a process of its own, and all load the same sources.
process.env.NODE_COMPILE_CACHE ??= compiled;
const rows = await playAll(faults);
rmSync(compiled, { recursive: true, force: true });
process.stdout.write(flags.json ? `${JSON.stringify(rows, null, 2)}\n` : formatReport(rows));
if (rows.some((row) => !row.pass)) process.exitCode = 1;

function chosen(only: readonly string[] | undefined): [string, Fault][] {
  const unknown = (only ?? []).filter((name) => !Object.hasOwn(FAULTS, name));
  if (unknown.length > 0) {
    say(`unknown fault ${unknown.join(', ')}; available: ${Object.keys(FAULTS).join(', ')}`);
    process.exit(2);
  }
  return Object.entries(FAULTS).filter(([name]) => only === undefined || only.includes(name));
}

async function playAll(faults: readonly [string, Fault][]): Promise<Row[]> {
  const contenders = flags.ours ? ['ours' as const] : (Object.keys(CONTENDERS) as ContenderName[]);
  const verdicts = new Map<string, Verdict>();
  const waiting = faults.flatMap(([name, fault]) =>
    contenders.map((contender) => ({ fault: name, contender, limitMs: fault.limitMs ?? LIMIT_MS })),
  );
  const total = waiting.length;
  const work = async () => {
    for (let trial = waiting.shift(); trial; trial = waiting.shift()) {
      const verdict = await runTrial({ ...trial, isQuick: flags.quick });
      verdicts.set(`${trial.fault} ${trial.contender}`, verdict);
      const mark = verdict.pass ? '✓' : '✗';
      say(`${verdicts.size}/${total} ${trial.fault} ${trial.contender} ${mark} ${verdict.note}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return faults.map(([name]) => rowOf(name, verdicts));
}

function rowOf(name: string, verdicts: ReadonlyMap<string, Verdict>): Row {
  const of = (contender: ContenderName) => verdicts.get(`${name} ${contender}`);
  const [mine, sdk, aiSdk] = [of('ours'), of('sdk'), of('aiSdk')];
  return {
    name,
    pass: mine?.pass === true,
    note: mine?.note ?? '',
    ...(sdk && { sdk }),
    ...(aiSdk && { aiSdk }),
  };
}
