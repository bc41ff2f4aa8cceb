// npm run conformance -- [--json] [--only SET]
import { parseArgs } from 'node:util';
import { installPeers } from '../scripts/peers.ts';
import { type Judged, judge, type Row } from './judge.ts';
import { SETS } from './sets.ts';
import { runSet } from './suite.ts';

const { values: flags } = parseArgs({
  options: { json: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const say = (line: string) => process.stderr.write(`${line}\n`);

process.exitCode = await main();

async function main(): Promise<number> {
  const sets = Object.entries(SETS).filter(([set]) => flags.only === undefined || set === flags.only);
  if (sets.length === 0) {
    say(`unknown set "${flags.only}"; available: ${Object.keys(SETS).join(', ')}`);
    return 2;
  }
  if (!installPeers()) return 1;
  const rows: Row[] = [];
  for (const [set, args] of sets) {
    say(`${set}: running`);
    const judged = (await runSet(args)).map((outcome) => judge(set, outcome));
    if (!flags.json) tell(set, judged);
    rows.push(...judged.map(({ name, pass, note }) => ({ name, pass, note })));
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  return rows.some(({ pass }) => pass === false) ? 1 : 0;
}

function tell(set: string, rows: readonly Judged[]): void {
  const passed = rows.filter(({ pass }) => pass === true);
  const failed = rows.filter(({ pass }) => pass === false);
  const checks = rows.reduce((sum, row) => sum + row.checks, 0);
  console.log(
    `\n${set}: ${passed.length} scenarios passed, ${failed.length} failed; ${checks} checks passed`,
  );
  for (const { name, pass, note } of rows.filter(({ pass }) => pass !== null)) {
    console.log(`  ${pass ? '✓' : '✗'} ${name.slice(set.length + 1)}: ${note}`);
  }
  const uncounted = Map.groupBy(
    rows.filter(({ pass }) => pass === null),
    ({ note }) => note,
  );
  for (const [note, those] of uncounted) {
    console.log(
      `  ${note} (${those.length}): ${those.map(({ name }) => name.slice(set.length + 1)).join(', ')}`,
    );
  }
}
