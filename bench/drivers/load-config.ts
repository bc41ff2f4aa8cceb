// Reads a configuration of many servers in a new process, once and repeatedly.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as Config from '../internals/config.ts';

/** The number of servers, and of reads after the first one. */
export type LoadTask = {
  /** The URL of `internals/config.ts`, built. */
  config: string;
  servers: number;
  again: number;
};

export type LoadReport = {
  /** Time to import the module, in milliseconds. */
  importing: number;
  /** Time of the first read. */
  first: number;
  again: number[];
  /** Times of `readFileSync` and `JSON.parse` on the same files. */
  floor: number[];
  /** The number of servers that may be started. */
  ready: number;
};

const task = JSON.parse(process.argv[2] as string) as LoadTask;
const place = join(process.env.HOME as string, `config-${process.pid}`);
const project = join(place, 'project');
const home = join(place, 'home');

type Entries = Record<string, Record<string, unknown>>;

const entries = Object.fromEntries(
  Array.from({ length: task.servers }, (_, index) => [`server-${index}`, entryOf(index)]),
);
const part = (at: number): Entries =>
  Object.fromEntries(Object.entries(entries).filter((_, index) => index % 3 === at));
const files = {
  [join(home, 'settings.json')]: { version: 1, mcpServers: part(0) },
  [join(project, '.mcp.json')]: { mcpServers: part(1) },
  [join(project, '.toolplane/settings.local.json')]: { version: 1, mcpServers: part(2) },
};

for (const directory of [home, join(project, '.git'), join(project, '.toolplane')]) {
  mkdirSync(directory, { recursive: true });
}
for (const [path, value] of Object.entries(files)) writeFileSync(path, JSON.stringify(value, null, 2));
try {
  process.stdout.write(JSON.stringify(await measure()));
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function measure(): Promise<LoadReport> {
  const begun = performance.now();
  const { configContext, readConfiguration, decideServers }: typeof Config = await import(task.config);
  const importing = performance.now() - begun;
  const around = { cwd: project, env: { TOOLPLANE_HOME: home }, userHome: place, platform: process.platform };
  const context = configContext(around);
  const since = performance.now();
  const read = async () => (await readConfiguration(context)).merged.servers;
  // Project servers are not approved yet; the same files are read.
  const servers = await read();
  const first = performance.now() - since;
  const unapproved = servers.filter(({ verdict }) => verdict.kind === 'pending').map((it) => it.written);
  decideServers(home, unapproved, 'approved');
  const again = await timed(task.again, read);
  const floor = await timed(task.again, async () => {
    for (const path of Object.keys(files)) JSON.parse(readFileSync(path, 'utf8'));
  });
  const ready = (await read()).filter(({ verdict }) => verdict.kind === 'ready').length;
  return { importing, first, again, floor, ready };
}

async function timed(times: number, work: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < times; round++) {
    const since = performance.now();
    await work();
    taken.push(performance.now() - since);
  }
  return taken;
}

function entryOf(index: number): Record<string, unknown> {
  const local = {
    command: 'npx',
    args: ['-y', `@example/server-${index}@1.${index}.0`, '--root', `\${HOME}/projects/${index}`],
    env: { API_TOKEN: `\${TOKEN_${index}:-none}`, LOG_LEVEL: 'info' },
    timeout: 60_000,
  };
  const remote = {
    type: 'http',
    url: `https://mcp-${index}.example.com/mcp`,
    headers: { Authorization: `Bearer \${TOKEN_${index}:-none}` },
    excludeTools: ['delete_*'],
  };
  return index % 2 ? local : remote;
}
