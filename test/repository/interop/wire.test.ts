import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadPackage } from '../../../interop/compare.ts';
import type { Recording, Sdk, WireCase } from '../../../interop/wire/case.ts';
import { CASES } from '../../../interop/wire/cases.ts';
import { exceptionFor, unusedExceptions } from '../../../interop/wire/exceptions.ts';
import { record } from '../../../interop/wire/record.ts';

const before = { ...process.env };
/** What the processes of both SDKs inherit must be the same, and nothing of this machine. */
const KEPT = ['PATH', 'LANG', 'TMPDIR'];

let official: Sdk;
let ours: Sdk;

beforeAll(async () => {
  official = (await loadPackage('official')) as unknown as Sdk;
  ours = (await loadPackage('ours')) as unknown as Sdk;
  for (const name of Object.keys(process.env)) if (!KEPT.includes(name)) delete process.env[name];
  // Some cases make an SDK warn, or print its frames.
  process.removeAllListeners('warning');
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
});

afterAll(() => {
  vi.restoreAllMocks();
  Object.assign(process.env, before);
});

/**
 * What one side sent: not when the other side spoke, and not what the program was told.
 * Replies are compared request by request: which of two is written first depends on how their requests arrived.
 */
function sent({ argv, execArgv, env, stdin, spawned }: Recording): object {
  const requestOf = (line: string) =>
    (JSON.parse(line) as { response?: { request_id?: string } }).response?.request_id;
  const said = stdin.filter((line) => requestOf(line) === undefined);
  const replies = Object.groupBy(
    stdin.filter((line) => requestOf(line) !== undefined),
    (line) => String(requestOf(line)),
  );
  return { argv, execArgv, env, said, replies: { ...replies }, spawned };
}

async function both(it: WireCase): Promise<{ theirs: object; mine: object }> {
  return { theirs: sent(await record(official, it)), mine: sent(await record(ours, it)) };
}

test.each(CASES.filter((it) => !exceptionFor(it.name)).map((it) => [it.name, it] as const))(
  '%s: what we send is what the official SDK sends (R81)',
  { timeout: 60_000 },
  async (_, it) => {
    const { theirs, mine } = await both(it);
    expect(mine).toEqual(theirs);
  },
);

test.each(
  CASES.filter((it) => exceptionFor(it.name)).map(
    (it) => [it.name, exceptionFor(it.name)?.reason, it] as const,
  ),
)('%s: we mean to differ. %s', { timeout: 60_000 }, async (_, __, it) => {
  const { theirs, mine } = await both(it);
  expect(mine).not.toEqual(theirs);
});

test('every exception means some case', () => {
  expect(unusedExceptions(CASES.map((it) => it.name))).toEqual([]);
});
