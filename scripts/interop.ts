// npm run interop: every program of interop/programs with the official package and with ours, compared.
import { installPeers } from './peers.ts';
import { ROOT, step } from './step.ts';

const isDone =
  installPeers() && step('interop', process.execPath, [`${ROOT}interop/run.ts`, ...process.argv.slice(2)]);
process.exitCode = isDone ? 0 : 1;
