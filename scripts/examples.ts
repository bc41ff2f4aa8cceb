// npm run examples: runs every example on the built package. `-- --update` records the output.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { EXAMPLES, type Example } from './example-list.ts';
import { type ExampleRun, knownOutput, outputPath, runExample } from './example-run.ts';
import { buildIfStale } from './fresh-build.ts';
import { installPeers } from './peers.ts';
import { ROOT } from './step.ts';

const { values, positionals } = parseArgs({
  options: { update: { type: 'boolean' } },
  allowPositionals: true,
});

process.exitCode = installPeers() && buildIfStale() && (await runAll()) ? 0 : 1;

async function runAll(): Promise<boolean> {
  const chosen = EXAMPLES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  console.log('\n── examples');
  let failed = 0;
  for (const example of chosen) {
    const run = await runExample(example, { on: 'build' });
    const fault = faultOf(example, run);
    if (fault) failed++;
    console.log(`${fault ? '✗' : '✓'} ${example.name} (${run.ms} ms)`);
    if (fault) console.log(`${fault}\n${run.stdout}${run.stderr}`.replaceAll(/^/gm, '    '));
  }
  console.log(`${chosen.length - failed} examples passed, ${failed} failed`);
  return failed === 0 && chosen.length > 0;
}

function faultOf({ name, isVarying }: Example, run: ExampleRun): string | undefined {
  if (!run.isDone) return 'it failed:';
  if (isVarying) return undefined;
  if (values.update) {
    mkdirSync(`${ROOT}examples/output`, { recursive: true });
    writeFileSync(outputPath(name), run.stdout);
  }
  if (run.stdout === knownOutput(name)) return undefined;
  return `the output differs from examples/output/${name}.txt (npm run examples -- --update records it):`;
}
