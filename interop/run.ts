import { parseArgs } from 'node:util';
import {
  type AgentName,
  loadPackage,
  loadProgram,
  observe,
  type PackageName,
  programNames,
} from './compare.ts';
import { difference } from './difference.ts';
import { withoutKnown } from './host-differences.ts';
import { PEERS, unusedDifferences, withoutKnownOfPeers } from './peers/peers.ts';
import { openProject, type PeerProject, preparePeers } from './peers/project.ts';
import { observeScenario, scenarioNames } from './peers/scenario.ts';
import { typeErrors } from './peers/types.ts';
import type { Sdk } from './program.ts';

const USAGE = `Runs every program of interop/programs and interop/mechanisms with the official package and with ours, on the real CLI and on our host (as a process and
in this process), and compares what both ends saw with what the official package on the real CLI sees. Then does the same
with the published packages of interop/peers, which are installed first if they are missing.
  --only NAME   only this program or published package, or "types": the declarations of the packages (repeatable)
  --peers       only the published packages
  --self-check  compare the official package on the real CLI with itself: finds programs that are not deterministic
  --show        print the observations too
  --json        print one JSON document instead of a table`;

/** How a program fared; the listed differences of our host are in host-differences.ts and peers/peers.ts. */
type Verdict = 'same' | 'same but for what is known' | 'different' | 'broken';
type Row = {
  name: string;
  pair: string;
  verdict: Verdict;
  diff: string[];
  ms: number;
  observation?: unknown;
};

type Pair = { readonly pair: string; readonly sdk: PackageName; readonly agent: AgentName };

/** Something to compare: a program of this folder, or a scenario with a published package. */
type Case = {
  readonly name: string;
  readonly pairs: readonly Pair[];
  observe(pair: Pair): Promise<unknown>;
  /** The observation without the listed differences of our host. */
  withoutKnown(observation: unknown): unknown;
  /** The listed differences of our host that did not occur. */
  unused?(expected: unknown, actual: unknown): string[];
};

/** The name of the case that compiles a program with the declarations of the published packages. */
const TYPES = 'types';
const REFERENCE: Pair = { pair: 'official × CLI', sdk: 'official', agent: 'cli' };
const ON_CLI: Pair = { pair: 'ours × CLI', sdk: 'ours', agent: 'cli' };
const ON_HOST: Pair = { pair: 'ours × our host', sdk: 'ours', agent: 'host' };
const IN_PROCESS: Pair = { pair: 'ours × in-process', sdk: 'ours', agent: 'in-process' };
const OFFICIAL_ON_HOST: Pair = { pair: 'official × our host', sdk: 'official', agent: 'host' };

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    peers: { type: 'boolean', default: false },
    'self-check': { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(USAGE);
else process.exitCode = await main();

async function main(): Promise<number> {
  const programs = await programNames();
  const scenarios = scenarioNames();
  const known = [...programs, ...scenarios, TYPES];
  const unknown = (values.only ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`No program ${unknown.join(', ')}; there are ${known.join(', ')}`);
  const isChosen = (name: string) => values.only?.includes(name) ?? true;

  const rows: Row[] = [];
  const compare = async (it: Case) => {
    for (const row of await check(it, values['self-check'] ? [REFERENCE] : it.pairs)) {
      rows.push(row);
      if (!values.json) print(row);
    }
  };
  const chosenPrograms = values.peers ? [] : programs.filter(isChosen);
  if (chosenPrograms.length > 0) await comparePrograms(chosenPrograms, compare);
  const chosenScenarios = [...scenarios, TYPES].filter(isChosen);
  if (chosenScenarios.length > 0) await compareScenarios(chosenScenarios, compare);
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  return rows.some((row) => row.verdict === 'different' || row.verdict === 'broken') ? 1 : 0;
}

async function comparePrograms(names: readonly string[], compare: (it: Case) => Promise<void>) {
  const [official, ours] = [await loadPackage('official'), await loadPackage('ours')];
  if (!official || !ours) throw new Error('The official package is not installed; run: npm run interop');
  const sdks: Record<PackageName, Sdk> = { official, ours };
  for (const name of names) {
    const program = await loadProgram(name);
    await compare({
      name,
      pairs: [ON_CLI, OFFICIAL_ON_HOST, ON_HOST, IN_PROCESS],
      observe: ({ sdk, agent }) => observe(program, sdks[sdk], agent),
      withoutKnown: (observation) => withoutKnown(observation, name),
    });
  }
}

async function compareScenarios(names: readonly string[], compare: (it: Case) => Promise<void>) {
  if (!preparePeers()) throw new Error('The published packages of interop/peers cannot be installed');
  using official = openProject('official');
  using ours = openProject('ours');
  const projects: Record<PackageName, PeerProject> = { official, ours };
  for (const name of names) {
    if (name === TYPES) {
      const types: Pair = { pair: 'ours', sdk: 'ours', agent: 'cli' };
      const observe = ({ sdk }: Pair) => typeErrors(projects[sdk]);
      await compare({ name, pairs: [types], observe, withoutKnown: (errors) => errors });
      continue;
    }
    await compare({
      name,
      pairs: [ON_CLI, PEERS[name]?.needsPath ? ON_HOST : IN_PROCESS],
      observe: ({ sdk, agent }) => observeScenario(name, projects[sdk], agent),
      withoutKnown: (observation) => withoutKnownOfPeers(observation, name),
      unused: (expected, actual) => unusedDifferences(expected, actual, name),
    });
  }
}

async function check(it: Case, pairs: readonly Pair[]): Promise<Row[]> {
  const { name } = it;
  const expected = await attempt(it, REFERENCE);
  if (expected.isBroken) {
    const diff = [`${REFERENCE.pair}: ${expected.value}`];
    return [{ name, pair: REFERENCE.pair, verdict: 'broken', diff, ms: 0 }];
  }
  const rows: Row[] = [];
  for (const pair of pairs) {
    const started = performance.now();
    const actual = await attempt(it, pair);
    const ms = Math.round(performance.now() - started);
    const shown = values.show ? { observation: actual.value } : {};
    rows.push({ name, pair: pair.pair, ...judge(it, pair, expected.value, actual), ms, ...shown });
  }
  return rows;
}

function judge(it: Case, pair: Pair, expected: unknown, actual: Attempt): Pick<Row, 'verdict' | 'diff'> {
  if (actual.isBroken) return { verdict: 'broken', diff: [String(actual.value)] };
  const isOnHost = pair.agent !== 'cli';
  const unused = (isOnHost && it.unused?.(expected, actual.value)) || [];
  if (unused.length > 0)
    return { verdict: 'different', diff: unused.map((why) => `listed, but the same: ${why}`) };
  if (difference(expected, actual.value).length === 0) return { verdict: 'same', diff: [] };
  const known = (value: unknown) => (isOnHost ? it.withoutKnown(value) : value);
  const diff = difference(known(expected), known(actual.value));
  return { verdict: diff.length === 0 ? 'same but for what is known' : 'different', diff };
}

type Attempt = { isBroken: boolean; value: unknown };

async function attempt(it: Case, pair: Pair): Promise<Attempt> {
  try {
    return { isBroken: false, value: await it.observe(pair) };
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
