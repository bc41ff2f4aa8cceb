import { expect, test } from 'vitest';
import { windowsCommand } from '../../../../src/mcp/transports/stdio/windows-command.ts';

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

/** The line `cmd.exe` is given, once its carets are read. */
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
