// The command in scripts: prompts, pipes, exit codes. Offline, with a temporary home directory.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'toolplane-example-'));
const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1' };

const codes: (number | null)[] = [];

/** Runs one command and prints it with its output. */
function run(args: readonly string[], input = ''): void {
  const words = args.map((word) => (/^[\w:./-]+$/.test(word) ? word : `'${word}'`));
  console.log(`$ ${input === '' ? '' : `echo '${input}' | `}toolplane ${words.join(' ')}`);
  const command = [...process.execArgv, main, ...args];
  const { stdout, stderr, status } = spawnSync(process.execPath, command, {
    cwd: home,
    env,
    input,
    encoding: 'utf8',
  });
  codes.push(status);
  console.log(`${stdout}${stderr}`.replaceAll(home, '~').trim());
  console.log(`exit code ${status}\n`);
}

run(['run', '--model', 'rehearsal', 'Call Bash with {"command": "expr 6 + 7"}']);
run([
  'run',
  '--model',
  'rehearsal',
  '--allowedTools',
  'Bash(expr *)',
  'Call Bash with {"command": "expr 6 + 7"}',
]);
run(['run', '--model', 'rehearsal', '--tools', 'Read', '-'], 'List tools');
run(['run', 'Hello']);
run(['run', '--modle', 'rehearsal', 'Hello']);
run(
  [
    '--model',
    'rehearsal',
    '--mcp-config',
    '{"mcpServers":{"docs":{"command":"docs-server","start":"on-demand"}}}',
  ],
  '/mcp',
);
rmSync(home, { recursive: true });

assert.deepEqual(codes, [0, 0, 0, 1, 2, 0]);
