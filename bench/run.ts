// npm run bench -- [--only GROUP] [--quick | --full] [--json] [--check] [--queries FILE]
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeers } from '../scripts/peers.ts';
import { buildPackage } from './build.ts';
import type { Effort, Group } from './group.ts';
import { agent } from './groups/agent.ts';
import { auth } from './groups/auth.ts';
import { channels } from './groups/channels.ts';
import { config } from './groups/config.ts';
import { connect } from './groups/connect.ts';
import { control } from './groups/control.ts';
import { pool } from './groups/pool.ts';
import { search } from './groups/search.ts';
import { serve } from './groups/serve.ts';
import { start } from './groups/start.ts';
import { Lab } from './lab.ts';
import { readQueries } from './queries.ts';
import type { Row } from './row.ts';
import { formatTable } from './table.ts';

/** The groups of benchmarks, in the order they run. */
const GROUPS: Readonly<Record<string, Group>> = {
  control,
  connect,
  serve,
  auth,
  agent,
  channels,
  pool,
  search,
  config,
  start,
};

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    queries: { type: 'string' },
  },
});
const report = (text: string) => process.stderr.write(`${text}\n`);
const progress = flags.json ? () => {} : report;

const queries = flags.queries === undefined ? undefined : checkedQueries(flags.queries);
const groups = chosen(flags.only);
if (!installPeers()) process.exit(1);
const rows = await runGroups(groups, flags.full ? 'full' : flags.quick ? 'quick' : 'default');
process.stdout.write(flags.json ? `${JSON.stringify(rows, null, 2)}\n` : formatTable(rows));
if (flags.check && rows.some((row) => !row.pass)) process.exitCode = 1;

function chosen(only: string | undefined): [string, Group][] {
  const groups = Object.entries(GROUPS).filter(([name]) => only === undefined || name === only);
  if (groups.length > 0) return groups;
  report(`unknown group "${only}" (known: ${Object.keys(GROUPS).join(', ')})`);
  process.exit(2);
}

/** The absolute path of the file; exits with 2 if the file is invalid. */
function checkedQueries(file: string): string {
  try {
    readQueries(file);
    return resolve(file);
  } catch (fault) {
    report((fault as Error).message);
    process.exit(2);
  }
}

async function runGroups(groups: readonly [string, Group][], effort: Effort): Promise<Row[]> {
  using lab = new Lab();
  progress('building');
  using built = await buildPackage();
  const rows: Row[] = [];
  for (const [name, group] of groups) {
    const measured = await group({
      effort,
      lab,
      packageDir: built.directory,
      queries,
      progress: (text) => progress(`${name}: ${text}`),
      note: (text) => report(`${name}: ${text}`),
    });
    rows.push(...measured);
  }
  return rows;
}
