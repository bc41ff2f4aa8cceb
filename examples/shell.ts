// How examples run the command as a shell would, and show it with what it printed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

/** A directory of its own to run in, which is the home too; it goes with the shell. */
export class Shell implements Disposable {
  readonly home: string = mkdtempSync(join(tmpdir(), 'toolplane-example-'));
  /** The exit codes so far. */
  readonly codes: (number | null)[] = [];

  write(file: string, content: unknown): void {
    writeFileSync(join(this.home, file), JSON.stringify(content));
  }

  run(...args: readonly string[]): void {
    const words = args.map((word) => (/^[\w:=./-]+$/.test(word) ? word : `'${word}'`));
    console.log(`$ toolplane ${words.join(' ')}`);
    const { stdout, stderr, status } = spawnSync(process.execPath, [...process.execArgv, main, ...args], {
      cwd: this.home,
      env: { PATH: process.env.PATH, HOME: this.home, NO_COLOR: '1' },
      encoding: 'utf8',
    });
    this.codes.push(status);
    console.log(`${stdout}${stderr}`.replaceAll(this.home, '~').trimEnd());
    console.log(status === 0 ? '' : `exit code ${status}\n`);
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true });
  }
}
