// npm run live: runs the live examples with a real model. Needs a key and costs money.
import { EXAMPLES } from './example-list.ts';
import { runExample } from './example-run.ts';
import { buildIfStale } from './fresh-build.ts';
import { installPeers } from './peers.ts';

const HOW = `npm run live needs a key: ANTHROPIC_API_KEY=… npm run live
TOOLPLANE_CLI names another agent CLI than the one of interop/.`;

if (process.env.ANTHROPIC_API_KEY) {
  process.exitCode = (await runLive()) ? 0 : 1;
} else {
  console.error(HOW);
  process.exitCode = 1;
}

async function runLive(): Promise<boolean> {
  if (!installPeers() || !buildIfStale()) return false;
  const live = EXAMPLES.filter((example) => example.isLive);
  let failed = 0;
  for (const example of live) {
    const run = await runExample(example, { on: 'build', env: { TOOLPLANE_LIVE: '1' } });
    if (!run.isDone) failed++;
    console.log(`${run.isDone ? '✓' : '✗'} ${example.name} (${run.ms} ms)`);
    console.log(`${run.stdout}${run.isDone ? '' : run.stderr}`.replaceAll(/^/gm, '    '));
  }
  console.log(`${live.length - failed} live examples passed, ${failed} failed`);
  return failed === 0;
}
