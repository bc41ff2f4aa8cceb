import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EXAMPLES, type Example, SUPPORT } from '../../scripts/example-list.ts';
import { knownOutput, runExample } from '../../scripts/example-run.ts';
import { ROOT } from '../../scripts/step.ts';

test('every file of examples/ is listed, so that it runs', () => {
  const files = globSync('*.{ts,mjs}', { cwd: `${ROOT}examples` });
  expect(files.toSorted()).toEqual([...SUPPORT, ...EXAMPLES.map(({ name }) => `${name}.ts`)].toSorted());
});

test.each(['webhook', 'chat-bridge', 'ci-alerts'])(
  'the channel %s is an example of less than 80 lines',
  (name) => {
    const lines = readFileSync(`${ROOT}examples/servers/${name}.ts`, 'utf8').split('\n');
    expect(lines.length).toBeLessThan(80);
    // The example of channels runs it, and asserts what it pushes.
    expect(readFileSync(`${ROOT}examples/channels.ts`, 'utf8')).toContain(`./servers/${name}.ts`);
  },
);

test('outputs are kept for the examples that print the same each time, and for no others', () => {
  const kept = globSync('*.txt', { cwd: `${ROOT}examples/output` });
  const steady = EXAMPLES.filter((example) => !example.isVarying);
  expect(kept.toSorted()).toEqual(steady.map(({ name }) => `${name}.txt`).toSorted());
});

// `npm run examples`, which `npm test` calls, runs all of them on the build and compares what they print.
test('the example of `npm start` asserts what it shows, on the sources', async () => {
  const example = EXAMPLES.find(({ name }) => name === 'demo') as Example;
  const { isDone, stdout, stderr } = await runExample(example, { on: 'sources' });
  expect(isDone, stderr).toBe(true);
  expect(stdout).toBe(knownOutput(example.name));
});
