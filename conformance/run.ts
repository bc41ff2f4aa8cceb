// npm run conformance -- [--json] [--server | --only SET]
import { parseArgs } from 'node:util';
import { buildIfStale } from '../scripts/fresh-build.ts';
import { installPeers } from '../scripts/peers.ts';
import { type Judged, judge, type Row } from './judge.ts';
import { SERVER_SETS, SETS, undeclaredExtension } from './sets.ts';
import { runServerSet, runSet } from './suite.ts';

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    server: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const say = (line: string) => process.stderr.write(`${line}\n`);

process.exitCode = await main();

async function main(): Promise<number> {
  const all = { ...SETS, ...SERVER_SETS };
  const sets = Object.entries(flags.server ? SERVER_SETS : all).filter(
    ([set]) => flags.only === undefined || set === flags.only,
  );
  if (sets.length === 0) {
    say(`unknown set "${flags.only}"; available: ${Object.keys(all).join(', ')}`);
    return 2;
  }
  if (!installPeers() || !buildIfStale({ output: 'stderr' })) return 1;
  const rows: Row[] = [];
  for (const [set, args] of sets) {
    say(`${set}: running`);
    const judged = await runJudged(set, args);
    if (!flags.json) tell(set, judged);
    rows.push(...judged.map(({ name, pass, note }) => ({ name, pass, note })));
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  return rows.some(({ pass }) => pass === false) ? 1 : 0;
}

async function runJudged(set: string, args: readonly string[]): Promise<Judged[]> {
  if (!Object.hasOwn(SERVER_SETS, set)) return (await runSet(args)).map((outcome) => judge(set, outcome));
  return (await runServerSet(args)).map((outcome) => {
    const reason = undeclaredExtension(outcome.scenario);
    const judged = judge(set, outcome);
    return reason === undefined ? judged : { ...judged, pass: null, note: reason, checks: 0 };
  });
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
