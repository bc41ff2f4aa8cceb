import { parseArgs } from 'node:util';
import { loadPackage, loadProgram, observe, programNames } from './compare.ts';
import { difference } from './difference.ts';
import type { Program, Sdk } from './program.ts';

const USAGE = `Runs every program with the official package and with ours, and compares what both ends saw.
  --only NAME   only this program (repeatable)
  --self-check  compare the official package with itself: finds programs that are not deterministic
  --show        print the observations too
  --json        print one JSON document instead of a table`;

/** How a program fared; `unchecked` means that there was nothing to compare with. */
type Verdict = 'same' | 'different' | 'unchecked' | 'broken';
type Row = { name: string; verdict: Verdict; diff: string[]; ms: number; observation?: unknown };

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    'self-check': { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(USAGE);
else process.exitCode = await main();

async function main(): Promise<number> {
  const official = await loadPackage('official');
  const ours = values['self-check'] ? official : await loadPackage('ours');
  if (!official) throw new Error('The official package is not installed; run: npm --prefix interop ci');
  if (!ours) console.error('Our package has no entry point yet: running the official one only.');

  const rows: Row[] = [];
  for (const name of await chosenNames()) {
    const row = await check(name, official, ours);
    rows.push(row);
    if (!values.json) print(row);
  }
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  return rows.some((row) => row.verdict === 'different' || row.verdict === 'broken') ? 1 : 0;
}

async function chosenNames(): Promise<string[]> {
  const names = await programNames();
  const unknown = (values.only ?? []).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`No program ${unknown.join(', ')}; there are ${names.join(', ')}`);
  return values.only ?? names;
}

async function check(name: string, official: Sdk, ours: Sdk | undefined): Promise<Row> {
  const started = performance.now();
  const program = await loadProgram(name);
  const expected = await attempt(program, official);
  const shown = values.show ? { observation: expected.value } : {};
  const row = (verdict: Verdict, diff: string[]): Row => {
    return { name, verdict, diff, ms: Math.round(performance.now() - started), ...shown };
  };
  if (expected.isBroken) return row('broken', [`official: ${expected.value}`]);
  if (!ours) return row('unchecked', []);
  const actual = await attempt(program, ours);
  if (actual.isBroken) return row('broken', [`ours: ${actual.value}`]);
  const diff = difference(expected.value, actual.value);
  return row(diff.length === 0 ? 'same' : 'different', diff);
}

async function attempt(program: Program, sdk: Sdk): Promise<{ isBroken: boolean; value: unknown }> {
  try {
    return { isBroken: false, value: await observe(program, sdk) };
  } catch (error) {
    return { isBroken: true, value: error instanceof Error ? error.stack : String(error) };
  }
}

function print(row: Row): void {
  console.log(`${row.name.padEnd(34)} ${row.verdict.padEnd(10)} ${String(row.ms).padStart(6)} ms`);
  for (const line of row.diff) console.log(`    ${line}`);
  if (row.observation !== undefined) console.log(JSON.stringify(row.observation, null, 2));
}
