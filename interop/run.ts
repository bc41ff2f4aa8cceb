import { parseArgs } from 'node:util';
import { type AgentName, loadPackage, loadProgram, observe, programNames } from './compare.ts';
import { difference } from './difference.ts';
import { withoutKnown } from './host-differences.ts';
import type { Program, Sdk } from './program.ts';

const USAGE = `Runs every program with the official package and with ours, on the real CLI and on our host (as a process and in this process), and compares what
both ends saw with what the official package on the real CLI sees.
  --only NAME   only this program (repeatable)
  --self-check  compare the official package on the real CLI with itself: finds programs that are not deterministic
  --show        print the observations too
  --json        print one JSON document instead of a table`;

/** How a program fared; what is known to differ on our host is in host-differences.ts. */
type Verdict = 'same' | 'same but for what is known' | 'different' | 'broken';
type Row = {
  name: string;
  pair: string;
  verdict: Verdict;
  diff: string[];
  ms: number;
  observation?: unknown;
};

type Pair = { readonly pair: string; readonly sdk: Sdk; readonly agent: AgentName };

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
  const ours = await loadPackage('ours');
  if (!official || !ours) throw new Error('The official package is not installed; run: npm run interop');
  const reference: Pair = { pair: 'official × CLI', sdk: official, agent: 'cli' };
  const others: Pair[] = [
    { pair: 'ours × CLI', sdk: ours, agent: 'cli' },
    { pair: 'official × our host', sdk: official, agent: 'host' },
    { pair: 'ours × our host', sdk: ours, agent: 'host' },
    { pair: 'ours × in-process', sdk: ours, agent: 'in-process' },
  ];
  const rows: Row[] = [];
  for (const name of await chosenNames()) {
    for (const row of await check(name, reference, values['self-check'] ? [reference] : others)) {
      rows.push(row);
      if (!values.json) print(row);
    }
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

async function check(name: string, reference: Pair, others: readonly Pair[]): Promise<Row[]> {
  const program = await loadProgram(name);
  const expected = await attempt(program, reference);
  if (expected.isBroken) {
    const diff = [`${reference.pair}: ${expected.value}`];
    return [{ name, pair: reference.pair, verdict: 'broken', diff, ms: 0 }];
  }
  const rows: Row[] = [];
  for (const pair of others) {
    const started = performance.now();
    const actual = await attempt(program, pair);
    const ms = Math.round(performance.now() - started);
    const shown = values.show ? { observation: actual.value } : {};
    rows.push({ name, pair: pair.pair, ...judge(name, pair, expected.value, actual), ms, ...shown });
  }
  return rows;
}

function judge(name: string, pair: Pair, expected: unknown, actual: Attempt): Pick<Row, 'verdict' | 'diff'> {
  if (actual.isBroken) return { verdict: 'broken', diff: [String(actual.value)] };
  if (difference(expected, actual.value).length === 0) return { verdict: 'same', diff: [] };
  const known = (it: unknown) => (pair.agent === 'cli' ? it : withoutKnown(it, name));
  const diff = difference(known(expected), known(actual.value));
  return { verdict: diff.length === 0 ? 'same but for what is known' : 'different', diff };
}

type Attempt = { isBroken: boolean; value: unknown };

async function attempt(program: Program, { sdk, agent }: Pair): Promise<Attempt> {
  try {
    return { isBroken: false, value: await observe(program, sdk, agent) };
  } catch (error) {
    return { isBroken: true, value: error instanceof Error ? error.stack : String(error) };
  }
}

function print(row: Row): void {
  const { name, pair, verdict, ms } = row;
  console.log(`${name.padEnd(34)} ${pair.padEnd(20)} ${verdict.padEnd(27)} ${String(ms).padStart(6)} ms`);
  for (const line of row.diff) console.log(`    ${line}`);
  if (row.observation !== undefined) console.log(JSON.stringify(row.observation, null, 2));
}
