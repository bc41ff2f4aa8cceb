// Assembles pools of many real tools. Arguments: the URL of `internals/pool.ts`, built, then { tools, cold, changes } as JSON: the number
// of tools, of assemblies from scratch, and of changes of one server. Needs --expose-gc. Prints milliseconds.
import type * as PoolModule from '../internals/pool.ts';
import { manyServers } from './real-tools.ts';

export type AssembleTask = { tools: number; cold: number; changes: number };
export type AssembleReport = { cold: number[]; changes: number[] };

const [url, { tools, cold, changes }] = process.argv.slice(2).map((arg) => JSON.parse(arg)) as [
  string,
  AssembleTask,
];
const { Assembler, assemble } = (await import(url)) as typeof PoolModule;
const names = ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Agent', 'ToolSearch', 'Write'];
const builtIns = names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
const given = { builtIns, maxNameLength: 64, rulesKey: 1, isDenied: (name: string) => name === 'Sleep' };

const report: AssembleReport = { cold: [], changes: [] };
for (let round = 0; round < cold; round++) {
  const servers = manyServers(tools);
  globalThis.gc?.();
  report.cold.push(time(() => assemble({ ...given, servers })));
}

let servers = manyServers(tools);
const keys = [...servers.keys()];
const assembler = new Assembler();
assembler.assemble({ ...given, servers });
for (let round = 0; round < changes; round++) {
  const key = keys[round % keys.length] as string;
  const [first, ...others] = servers.get(key) ?? [];
  if (!first) continue;
  const changed = { ...first, description: `${first.description} ${round}` };
  servers = new Map(servers).set(key, [changed, ...others]);
  report.changes.push(time(() => assembler.assemble({ ...given, servers })));
}
console.log(JSON.stringify(report));

/** Time until all tools are assembled and the first one is looked up. */
function time(make: () => PoolModule.Pool): number {
  const since = performance.now();
  const pool = make();
  const found = pool.byName.get('Bash');
  const ms = performance.now() - since;
  if (!found || pool.tools.length !== tools + builtIns.length) throw new Error(`${pool.tools.length} tools`);
  return ms;
}
