#!/usr/bin/env node
// Kept nearly empty: `toolplane --version` must not pay for what other commands need.
import { VERSION } from '../entry/version.ts';

const [first] = process.argv.slice(2);
if (first === '--version' || first === '-V') {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runCommand } = await import('./program.ts');
  process.exitCode = await runCommand(process.argv);
}
