import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { endProcess } from '../../../../src/mcp/transports/stdio/server-process.ts';
import { windowsCommand, windowsProcesses } from '../../../../src/mcp/transports/stdio/windows-processes.ts';

describe('windows processes', () => {
  type Run = { file: string; args: readonly string[]; options: SpawnOptions; child: FakeChild };

  class FakeChild extends EventEmitter {
    pid: number | undefined = 42;
    exitCode: number | null = null;
    signalCode: string | null = null;
    killed: unknown[] = [];
    stdin = new PassThrough();
    stdout = new PassThrough();
    stderr = new PassThrough();

    exit(code: number): void {
      this.exitCode = code;
      this.emit('exit', code, null);
    }

    kill(signal: unknown): boolean {
      this.killed.push(signal);
      return true;
    }
  }

  /** A fake system that records started processes in a list; `onRun` may simulate their effects. */
  function fakeWindows(onRun: (run: Run) => void = () => {}) {
    const runs: Run[] = [];
    const processes = windowsProcesses({
      isFile: (path) => path === 'C:\\bin\\npx.cmd',
      spawn(file, args, options) {
        const run = { file, args, options, child: new FakeChild() };
        runs.push(run);
        onRun(run);
        return run.child as unknown as ChildProcess;
      },
    });
    const start = (command: string) =>
      processes.start({ command, args: ['a b'], env: { PATH: 'C:\\bin', COMSPEC: 'cmd.exe' }, cwd: 'C:\\' });
    return { runs, start };
  }

  test('a server has no window and is not detached, so that it ends with the host', async () => {
    const { runs, start } = fakeWindows();
    await start('server.exe');
    expect(runs[0]).toMatchObject({
      file: 'server.exe',
      args: ['a b'],
      options: { windowsHide: true, stdio: 'pipe', cwd: 'C:\\', windowsVerbatimArguments: false },
    });
    expect(runs[0]?.options.detached).toBeUndefined();
  });

  test('a batch file is run by the shell, quoted already', async () => {
    const { runs, start } = fakeWindows();
    await start('npx');
    expect(runs[0]).toMatchObject({ file: 'cmd.exe', options: { windowsVerbatimArguments: true } });
    expect(runs[0]?.args[3]).toContain('npx.cmd');
  });

  test('one that cannot be started is told as spawn tells it', async () => {
    const fault = Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT', syscall: 'spawn x' });
    const { start } = fakeWindows(({ child }) => {
      child.pid = undefined;
      process.nextTick(() => child.emit('error', fault));
    });
    await expect(start('x')).rejects.toBe(fault);
  });

  test('one that heeds the end of its input is not killed', async () => {
    const { runs, start } = fakeWindows(({ child }) => {
      child.stdin.on('finish', () => child.exit(0));
    });
    await endProcess(await start('server.exe'));
    expect(runs).toHaveLength(1);
  });

  test('the tree of one that does not is asked, then made to end', async () => {
    let server: FakeChild | undefined;
    const { runs, start } = fakeWindows(({ args, child }) => {
      server ??= child;
      if (args.includes('/F')) server.exit(1);
    });
    await endProcess(await start('server.exe'));
    expect(runs.slice(1).map(({ file, args }) => [file, ...args].join(' '))).toEqual([
      'taskkill /PID 42 /T',
      'taskkill /PID 42 /T /F',
    ]);
  });

  test('where there is no taskkill, the process itself is ended', async () => {
    const { runs, start } = fakeWindows();
    const server = await start('server.exe');
    server.signal('SIGKILL');
    runs[1]?.child.emit('error', new Error('spawn taskkill ENOENT'));
    expect(runs[0]?.child.killed).toEqual(['SIGKILL']);
  });
});

describe('windows command', () => {
  const FILES = new Set([
    'C:\\node\\node.exe',
    'C:\\node\\npx.cmd',
    'C:\\work\\run.bat',
    'C:\\work\\node_modules\\.bin\\mcp.cmd',
    'C:\\Program Files\\tool\\tool.exe',
  ]);

  function run(command: string, ...args: string[]) {
    return windowsCommand(command, args, {
      env: { Path: 'C:\\other;C:\\node', ComSpec: 'C:\\Windows\\cmd.exe' },
      cwd: 'C:\\work',
      isFile: (path) => FILES.has(path),
    });
  }

  test.each([
    ['node', 'C:\\node\\node.exe'],
    ['node.exe', 'C:\\node\\node.exe'],
    ['C:\\Program Files\\tool\\tool', 'C:\\Program Files\\tool\\tool.exe'],
    ['missing', 'missing'],
    ['run', 'run'],
  ])('%s is run as %s', (command, file) => {
    expect(run(command, 'a b', '"c"')).toEqual({ file, args: ['a b', '"c"'], isVerbatim: false });
  });

  /** The command line for `cmd.exe` after its carets are resolved. */
  function lineOf(command: string, ...args: string[]): string {
    const found = run(command, ...args);
    expect(found).toMatchObject({ file: 'C:\\Windows\\cmd.exe', isVerbatim: true });
    expect(found.args.slice(0, 3)).toEqual(['/d', '/s', '/c']);
    const line = found.args[3] as string;
    expect([line[0], line.at(-1)]).toEqual(['"', '"']);
    return read(line.slice(1, -1));
  }

  const read = (line: string) => line.replace(/\^(.)/gs, '$1');

  test('batch files are run by the shell, found by their endings', () => {
    expect(lineOf('npx', '-y', 'pkg')).toBe('"C:\\node\\npx.cmd" "-y" "pkg"');
    expect(lineOf('.\\run.bat')).toBe('"C:\\work\\run.bat"');
  });

  test('arguments come out as programs take them apart', () => {
    expect(lineOf('npx', 'a b', 'say "hi"', 'C:\\dir\\', '\\"', '')).toBe(
      '"C:\\node\\npx.cmd" "a b" "say \\"hi\\"" "C:\\dir\\\\" "\\\\\\"" ""',
    );
  });

  test('nothing in an argument means something to the shell', () => {
    const { args } = run('npx', '& calc.exe | %PATH% ^ <x> !y! (z)');
    expect(args[3]).toBe('"^"C:\\node\\npx.cmd^" ^"^&^ calc.exe^ ^|^ ^%PATH^%^ ^^^ ^<x^>^ ^!y^!^ ^(z^)^""');
  });

  test('what npm links reads its arguments once more', () => {
    const line = lineOf('node_modules\\.bin\\mcp', 'a&b');
    expect(line).toBe('"C:\\work\\node_modules\\.bin\\mcp.cmd" ^"a^&b^"');
    expect(read(line)).toBe('"C:\\work\\node_modules\\.bin\\mcp.cmd" "a&b"');
  });
});
