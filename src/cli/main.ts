#!/usr/bin/env node
// Kept nearly empty: `toolplane --version` must not pay for what other commands need.
import { VERSION } from '../entry/version.ts';

const [first] = process.argv.slice(2);
if (first === '--version' || first === '-V') {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runCommand } = await import('./program.ts');
  process.exitCode = await runCommand(process.argv);
  if (first === 'serve' || first === 'agent') {
    // A served module, or a server's connection, may hold a timer or a socket for ever; who it served has gone.
    const { flushed } = await import('./claim-stdout.ts');
    await flushed(process.stderr);
    process.exit();
  }
}
