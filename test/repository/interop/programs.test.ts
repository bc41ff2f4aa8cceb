import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadPackage, loadProgram, observe, programNames } from '../../../interop/compare.ts';
import { HOST_DIFFERENCES, withoutKnown } from '../../../interop/host-differences.ts';
import type { Sdk } from '../../../interop/program.ts';
import { AGENT } from '../../support/setup/built-package.ts';

// Every program with the official package on the real CLI, the reference, and on our host, and with our package on our host in
// this process; `npm run interop` compares our package with our host as a process, too.

let official: Sdk;
let ours: Sdk;

beforeAll(async () => {
  official = (await loadPackage('official')) as Sdk;
  ours = (await loadPackage('ours')) as Sdk;
  // The official package warns of a tool name that one program uses on purpose.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

afterAll(() => vi.restoreAllMocks());

/** Compares a program on Toolplane's agent, and with `isOnCli` also Toolplane on the real CLI, with the official package on the real CLI. */
async function compare(name: string, isOnCli: boolean): Promise<void> {
  const program = await loadProgram(name);
  const [real, onCli, theirs, inProcess] = await Promise.all([
    observe(program, official, 'cli'),
    isOnCli && observe(program, ours, 'cli'),
    observe(program, official, 'host', AGENT),
    observe(program, ours, 'in-process'),
  ]);
  if (isOnCli) expect(onCli).toEqual(real);
  expect(withoutKnown(theirs, name)).toEqual(withoutKnown(real, name));
  expect(withoutKnown(inProcess, name)).toEqual(withoutKnown(real, name));
  for (const known of HOST_DIFFERENCES.filter(({ programs }) => programs.includes(name))) {
    const others = HOST_DIFFERENCES.filter((it) => it !== known);
    const isNeeded = `not needed: ${known.why}`;
    expect(withoutKnown(theirs, name, others), isNeeded).not.toEqual(withoutKnown(real, name, others));
  }
}

test.each(await programNames('programs'))(
  '%s: both ends see the same with either package and either agent',
  { timeout: 90_000 },
  (name) => compare(name, true),
);

// `npm run interop` also runs these with Toolplane on the real CLI.
test.each(await programNames('mechanisms'))(
  '%s: both ends see the same on either agent',
  { timeout: 90_000 },
  (name) => compare(name, false),
);
