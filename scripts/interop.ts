// npm run interop: runs every program of interop/programs and interop/mechanisms with both packages and compares the results.
import { installPeers } from './peers.ts';
import { ROOT, step } from './step.ts';

const isDone =
  installPeers() && step('interop', process.execPath, [`${ROOT}interop/run.ts`, ...process.argv.slice(2)]);
process.exitCode = isDone ? 0 : 1;
