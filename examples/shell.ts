// Runs commands for the examples and prints them with their output.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

/** A temporary home directory and a working directory: the home itself, or a repository in it. */
export class Shell implements Disposable {
  readonly home: string = mkdtempSync(join(tmpdir(), 'toolplane-example-'));
  readonly directory: string;
  /** Exit codes so far. */
  readonly codes: (number | null)[] = [];

  constructor(repository = '') {
    this.directory = join(this.home, repository);
    if (repository !== '') mkdirSync(join(this.directory, '.git'), { recursive: true });
  }

  write(file: string, content: unknown): void {
    writeFileSync(join(this.directory, file), JSON.stringify(content, null, 2));
  }

  /** Creates a command with this name on the PATH. */
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
