// Searches many real tools. Arguments: the URL of `internals/pool.ts`, built, then { tools, searches } as JSON: the number of
// tools and of timed searches. Needs --expose-gc. Prints milliseconds and bytes.
import { setImmediate } from 'node:timers/promises';
import type * as PoolModule from '../internals/pool.ts';
import { readQueries } from '../queries.ts';
import { manyServers } from './real-tools.ts';

export type SearchTask = { tools: number; searches: number };
export type SearchReport = { searches: number[]; indexMs: number; longestWait: number; bytes: number };

const [url, task] = process.argv.slice(2).map((arg) => JSON.parse(arg)) as [string, SearchTask];
const { assemble, ToolIndex }: typeof PoolModule = await import(url);
const queries = readQueries(new URL('../../data/tool-catalogue/queries.json', import.meta.url).pathname);

const { tools } = assemble({ builtIns: [], servers: manyServers(task.tools), maxNameLength: 128 });
const before = held();
const index = new ToolIndex();
const begun = performance.now();
index.sync(tools);
let longestWait = performance.now() - begun;
const first = index.search({ text: 'warm' }).then(() => performance.now() - begun);
let indexMs: number | undefined;
void first.then((ms) => {
  indexMs = ms;
});
for (let last = performance.now(); indexMs === undefined; ) {
  await setImmediate();
  const now = performance.now();
  longestWait = Math.max(longestWait, now - last);
  last = now;
}
const bytes = held() - before;
const searches: number[] = [];
for (let round = -queries.length; round < task.searches; round++) {
  const { query } = queries[(round + queries.length) % queries.length] as { query: string };
  const since = performance.now();
  const found = await index.search({ text: query });
  if (round >= 0) searches.push(performance.now() - since);
  if (found.length === 0) throw new Error(`no result for "${query}"`);
}
const report: SearchReport = { searches, indexMs, longestWait, bytes };
console.log(JSON.stringify(report));

/** Reachable bytes; an index stores numbers in buffers outside the heap. */
function held(): number {
  for (let pass = 0; pass < 4; pass++) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
