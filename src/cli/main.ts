#!/usr/bin/env node
// Minimal, so that `toolplane --version` loads nothing else and an old Node gets as far as
// the check of its version. Like version.ts, this file uses no syntax newer than Node 12: no top-level await.
import { nodeVersionError, VERSION } from '../entry/version.ts';

import { handleOutputErrors } from './output/output-errors.ts';

const output = handleOutputErrors();
const [first] = process.argv.slice(2);
const versionError = nodeVersionError(process.versions);
if (versionError !== undefined) {
  process.stderr.write(`${versionError}\n`);
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ error: { message: versionError } }, null, 2)}\n`);
  }
  process.exitCode = 1;
} else if (first === '--version' || first === '-V') {
  process.stdout.write(`${VERSION}\n`);
} else {
  void main();
}

async function main(): Promise<void> {
  // The cache is beside the installed package, which has the same access rights as its code. Without write access, with
  // NODE_DISABLE_COMPILE_CACHE or with a NODE_COMPILE_CACHE of the user's own this does nothing.
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/toolplane`);
  const { runCommand } = await import('./program.ts');
  const code = await runCommand(process.argv);
  process.exitCode = code === 0 && output.hasFailed ? 1 : code;
  if (first === 'serve' || first === 'agent' || first === 'acp') {
    // The client has disconnected; a served module or a connection may still hold a timer or a socket.
    const { flushed } = await import('./output/output.ts');
    await flushed(process.stderr);
    process.exit();
  }
}
