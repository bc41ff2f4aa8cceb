import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadPackage, loadProgram, observe, programNames } from '../../interop/compare.ts';
import type { Sdk } from '../../interop/program.ts';

let official: Sdk;
let ours: Sdk;

beforeAll(async () => {
  official = (await loadPackage('official')) as Sdk;
  ours = (await loadPackage('ours')) as Sdk;
  // The official package warns of a tool name that one program uses on purpose.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

afterAll(() => vi.restoreAllMocks());

test.each(await programNames())(
  '%s: both ends see the same with either package',
  { timeout: 60_000 },
  async (name) => {
    const program = await loadProgram(name);
    const [theirs, mine] = await Promise.all([observe(program, official), observe(program, ours)]);
    expect(mine).toEqual(theirs);
  },
);
