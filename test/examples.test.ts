import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EXAMPLES, SUPPORT } from '../scripts/example-list.ts';
import { knownOutput, runExample } from '../scripts/example-run.ts';
import { ROOT } from '../scripts/step.ts';

const alone = EXAMPLES.filter((example) => example.needs === 'nothing');

test('every file of examples/ is listed, so that it runs', () => {
  const files = globSync('*.{ts,mjs}', { cwd: `${ROOT}examples` });
  expect(files.toSorted()).toEqual([...SUPPORT, ...EXAMPLES.map(({ name }) => `${name}.ts`)].toSorted());
});

test('outputs are kept for the examples that print the same each time, and for no others', () => {
  const kept = globSync('*.txt', { cwd: `${ROOT}examples/output` });
  const steady = EXAMPLES.filter((example) => !example.isVarying);
  expect(kept.toSorted()).toEqual(steady.map(({ name }) => `${name}.txt`).toSorted());
});

// Those that need an agent CLI run in `npm run examples`, which `npm test` calls.
test.each(alone)('$name asserts what it shows, on the sources', async (example) => {
  const { isDone, stdout, stderr } = await runExample(example, { on: 'sources' });
  expect(isDone, stderr).toBe(true);
  if (!example.isVarying) expect(stdout).toBe(knownOutput(example.name));
});
