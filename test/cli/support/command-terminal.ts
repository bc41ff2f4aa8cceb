import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { Place } from './run-cli.ts';

/** `script` of util-linux runs a command in its own terminal. */
const SCRIPT = 'script';

/** Runs a command line in its own terminal and directory until the end of the test. */
export function commandTerminal(line: string, { cwd, env }: Place) {
  const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
    cwd,
    env: { TERM: 'xterm', SHELL: '/bin/sh', ...env },
  });
  onTestFinished(() => void child.kill());
  const closed = once(child, 'close');
  let printed = '';
  let seen = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
    seen += text;
  });
  const gone = closed.then(() => 'gone' as const);
  return {
    closed,
    type: (keys: string) => void child.stdin.write(keys),
    /** Resolves when the text is printed after the last awaited text. */
    async until(text: string): Promise<void> {
      while (!printed.includes(text)) {
        const end = await Promise.race([once(child.stdout, 'data'), gone]);
        if (end === 'gone' && !printed.includes(text)) {
          throw new Error(`it ended without ${JSON.stringify(text)}: ${seen}`);
        }
      }
      printed = printed.slice(printed.indexOf(text) + text.length);
    },
  };
}
