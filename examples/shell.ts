// How examples run the command as a shell would, and show it with what it printed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

/** A home of its own, and a directory to run in: the home too, or a repository in it. It goes with the shell. */
export class Shell implements Disposable {
  readonly home: string = mkdtempSync(join(tmpdir(), 'toolplane-example-'));
  readonly directory: string;
  /** The exit codes so far. */
  readonly codes: (number | null)[] = [];

  constructor(repository = '') {
    this.directory = join(this.home, repository);
    if (repository !== '') mkdirSync(join(this.directory, '.git'), { recursive: true });
  }

  write(file: string, content: unknown): void {
    writeFileSync(join(this.directory, file), JSON.stringify(content, null, 2));
  }

  /** Makes a command of the name that the shell finds. */
  install(name: string, { command, args }: { command: string; args: readonly string[] }): void {
    const words = [command, ...args].map((word) => `'${word}'`).join(' ');
    mkdirSync(join(this.home, 'bin'), { recursive: true });
    writeFileSync(join(this.home, 'bin', name), `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 });
  }

  run(...args: readonly string[]): void {
    const words = args.map((word) => (/^[\w:=./-]+$/.test(word) ? word : `'${word}'`));
    console.log(`$ toolplane ${words.join(' ')}`);
    const { stdout, stderr, status } = spawnSync(process.execPath, [...process.execArgv, main, ...args], {
      cwd: this.directory,
      env: {
        PATH: `${join(this.home, 'bin')}:${process.env.PATH}`,
        HOME: this.home,
        NO_COLOR: '1',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      },
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
