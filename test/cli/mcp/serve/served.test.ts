import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { servedDirectory } from '../../../../src/cli/mcp/serve/served-directory.ts';
import { type Opened, servedTools } from '../../../../src/cli/mcp/serve/served-tools.ts';
import { configPlace } from '../../../config/config-place.ts';

const names = (opened: readonly Opened[], wanted?: readonly string[]) =>
  servedTools(opened, wanted).map(({ listed }) => listed.name);

test.each<[Opened[], string[] | undefined, string[]]>([
  [[], undefined, ['Read', 'Glob', 'Grep']],
  [['writes'], undefined, ['Read', 'Glob', 'Grep', 'Edit', 'Write']],
  [['shell'], undefined, ['Read', 'Glob', 'Grep', 'Bash']],
  [['shell', 'writes'], undefined, ['Read', 'Glob', 'Grep', 'Edit', 'Write', 'Bash']],
  [[], ['Grep', 'Read', 'Grep'], ['Grep', 'Read']],
  [['shell'], ['Bash'], ['Bash']],
])('opened %j and wanted %j, there are %j', (opened, wanted, expected) => {
  expect(names(opened, wanted)).toEqual(expected);
});

test.each([
  ['Write', 'Write is shut: --allow-writes opens it, and --help says what that means'],
  ['Bash', 'Bash is shut: --allow-shell opens it, and --help says what that means'],
  ['Task', 'there is no tool "Task" to serve (there are Read, Glob, Grep, Edit, Write, Bash)'],
  [
    'Reed',
    'there is no tool "Reed" to serve; did you mean Read? (there are Read, Glob, Grep, Edit, Write, Bash)',
  ],
  [
    'grep',
    'there is no tool "grep" to serve; did you mean Grep? (there are Read, Glob, Grep, Edit, Write, Bash)',
  ],
  ['', 'there is no tool "" to serve (there are Read, Glob, Grep, Edit, Write, Bash)'],
])('%j is refused', (name, message) => {
  expect(() => names([], ['Read', name])).toThrow(message);
});

test('the directory is free of links, and what is none is refused', () => {
  const { project, userHome: home } = configPlace();
  mkdirSync(join(project, 'src'));
  symlinkSync(join(project, 'src'), join(project, 'link'));
  writeFileSync(join(project, 'file'), '');
  const served = (given?: string, cwd = project) => servedDirectory({ given, cwd, home });
  expect(served()).toBe(project);
  expect(served('link')).toBe(join(project, 'src'));
  expect(served(home, '/')).toBe(home);
  expect(served('/')).toBe('/');
  expect(() => served('file')).toThrow('--cwd file is no directory');
  expect(() => served('nowhere')).toThrow('--cwd nowhere is no directory');
  expect(() => served(undefined, '/')).toThrow(
    'it was started in the root of the file system: name the directory',
  );
  expect(() => served(undefined, home)).toThrow('it was started in your home: name the directory');
});
