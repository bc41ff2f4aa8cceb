import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../../../scripts/step.ts';
import { FLAGS } from '../../../src/agent/launch/flag-table.ts';
import { loadAll } from '../../../src/cli/command-table.ts';
import { createProgram } from '../../../src/cli/program.ts';

type Page = { readonly file: string; readonly text: string };

const read = (...patterns: string[]): Page[] =>
  globSync(patterns, { cwd: ROOT }).map((file) => ({
    file,
    text: readFileSync(join(ROOT, file), 'utf8'),
  }));

/** Pages that describe the project as it is. The changelog may name things that were removed. */
const PAGES = read('*.md', 'docs/*.md').filter(({ file }) => file !== 'CHANGELOG.md');
const SOURCES = read('src/**/*.ts');
const REPOSITORY = [
  ...SOURCES,
  ...read('{examples,scripts,interop,bench,chaos,conformance}/*.ts', 'package.json'),
];
/** Every identifier and word of the sources. */
const SOURCE_WORDS = new Set(
  [...SOURCES, ...read('examples/**/*.ts', 'bin/*')].flatMap(
    ({ text }) => text.match(/[A-Za-z_$][\w$]*/g) ?? [],
  ),
);
const FILE_NAMES = new Set([...REPOSITORY, ...read('*.md')].map(({ file }) => basename(file)));
/** What tests and examples use: a flag or file that only a page names is not tried by anything. */
const TRIED = read(
  'test/**/*.{ts,mjs}',
  'interop/*.ts',
  'interop/wire/**/*.ts',
  'examples/*.ts',
  'scripts/docs/explain-set-ups.ts',
)
  .filter(({ file }) => !file.startsWith('test/repository/docs/'))
  .map(({ text }) => text)
  .join('\n');

describe('every name in inline code exists', () => {
  test.each(PAGES.map(({ file, text }) => [file, text] as const))('%s', (_, text) => {
    expect(unknownNames(text)).toEqual([]);
  });

  test.each([
    ['a path', 'see `src/nowhere/at-all.ts`', ['src/nowhere/at-all.ts']],
    ['a folder', 'see `mcp/nowhere/`', ['mcp/nowhere/']],
    ['a file', 'see `no-such-module.ts`', ['no-such-module.ts']],
    ['an option', 'set `noSuchOption`', ['noSuchOption']],
    ['a method', 'call `host.noSuchMethod()`', ['host.noSuchMethod()']],
    ['a member of another class', 'in `Conversation.#noSuchMember`', ['Conversation.#noSuchMember']],
    ['a variable', 'set `TOOLPLANE_NO_SUCH`', ['TOOLPLANE_NO_SUCH']],
    ['a script', 'run `npm run no-such-script`', ['npm run no-such-script']],
    ['nothing', 'see `src/entry/index.ts`, `mcpServers`, `host.callTool()`, `npm run docs`, `query`', []],
  ])('%s that does not exist is found', (_, text, unknown) => {
    expect(unknownNames(text)).toEqual(unknown);
  });
});

describe('every command and flag exists', () => {
  const program = createProgram();
  beforeAll(() => loadAll(program));

  test.each(PAGES.map(({ file, text }) => [file, text] as const))('%s', (_, text) => {
    expect(commandsIn(text).flatMap((words) => unknownWords(program, words))).toEqual([]);
  });

  test.each([
    ['toolplane mcp ad docs', ['toolplane mcp ad']],
    ['toolplane explian server', ['toolplane explian']],
    ['toolplane run --no-such-flag "x"', ['toolplane run --no-such-flag']],
    ['toolplane mcp list --cost', ['toolplane mcp list --cost']],
    ['toolplane mcp add docs -- npx --any', []],
    ['toolplane', []],
  ])('%s', (command, unknown) => {
    expect(unknownWords(program, command.split(' '))).toEqual(unknown);
  });

  test('flags without a command belong to a command, the agent or another program', () => {
    const known = new Set([
      ...flagsOf(program),
      ...Object.keys(FLAGS).map((name) => `--${name}`),
      ...OTHER_FLAGS,
    ]);
    const unknown = PAGES.flatMap(({ file, text }) =>
      (withoutOutput(text).match(FLAG) ?? [])
        .filter((flag) => !known.has(flag))
        .map((flag) => `${file}: ${flag}`),
    );
    expect(unknown).toEqual([]);
  });
});

test('every function, class and folder in the diagrams of ARCHITECTURE.md exists', () => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const diagrams = [...page.matchAll(/^```mermaid\n(.*?)^```$/gms)]
    .map(([, text]) => String(text))
    .join('\n');
  const functions = [...diagrams.matchAll(/"(\w+)\(\)"/g)].map(([, name]) => String(name));
  const folders = [...diagrams.matchAll(/subgraph \w+\[([\w/-]+)\]/g)].map(([, name]) => String(name));
  expect(functions.length).toBeGreaterThan(10);
  expect(functions.filter((name) => !SOURCE_WORDS.has(name))).toEqual([]);
  expect(folders.filter((folder) => !existsSync(join(ROOT, 'src', folder)))).toEqual([]);
});

describe('layers', () => {
  test('every layer of ARCHITECTURE.md is a folder of src', () => {
    const layers =
      /```layers\n(.*?)```/s.exec(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))?.[1] ?? '';
    const folders = layers
      .trim()
      .split('\n')
      .flatMap((line) => String(line.split(/\s+/)[0]).split(','));
    expect(folders.length).toBeGreaterThan(10);
    expect(folders.filter((folder) => !existsSync(join(ROOT, 'src', folder)))).toEqual([]);
  });
});

/** A flag as it is typed. */
const FLAG = /(?<![\w-])--[a-zA-Z][a-zA-Z-]+(?![\w-])/g;
/** A file of the configuration or of another program, by its name. */
const FILE = /(?<![\w/-])\.?[\w-]+(?:\.[\w-]+)*\.(?:json|jsonl|toml|gitignore)(?!\w)/g;
/** Flags of npm, git, node, vitest and other programs, and of the project's own scripts. */
const OTHER_FLAGS = new Set([
  '--conditions',
  '--count',
  '--dry-run',
  '--help',
  '--import',
  '--name',
  '--only',
  '--output',
  '--seed',
  '--update',
  '--version',
]);
const OTHER_FILES = new Set(['package.json', 'package-lock.json', 'tsconfig.json']);

test.each([
  ['flag', FLAG, OTHER_FLAGS],
  ['file', FILE, OTHER_FILES],
])('every %s that the README and docs/ name is used by a test or an example', (_, pattern, others) => {
  const unused = PAGES.filter(({ file }) => file === 'README.md' || file.startsWith('docs/')).flatMap(
    ({ file, text }) =>
      [...new Set(text.match(pattern) ?? [])]
        .filter((name) => !others.has(name) && !isTried(name))
        .map((name) => `${file}: ${name}`),
  );
  expect(unused).toEqual([]);
});

function isTried(name: string): boolean {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w-])${literal}(?![\\w-])`).test(TRIED);
}

/** Names in inline code that neither the sources nor the repository know. */
function unknownNames(text: string): string[] {
  const prose = text
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/<!-- generated:.*?<!-- \/generated -->/gs, '');
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span]) => String(span));
  return [...new Set(spans)].filter((span) => !isKnown(span));
}

/** Top-level folders of the repository and of `src`: a path that starts with one must exist. */
const FOLDERS = new Set(
  ['', 'src/'].flatMap((parent) => globSync(`${parent}*/`, { cwd: ROOT }).map((path) => basename(path))),
);
const SCRIPTS = new Set(Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts));

/** Spans of other shapes, such as sentences, JSON and shell commands, are not names. */
function isKnown(span: string): boolean {
  const script = /^npm run (?:-s )?([\w:-]+)/.exec(span)?.[1];
  if (script !== undefined) return SCRIPTS.has(script);
  if (
    /^[\w.-]+(?:\/[\w.-]+)*\/?$/.test(span) &&
    FOLDERS.has(String(span.split('/')[0])) &&
    span.includes('/')
  )
    return existsSync(join(ROOT, span)) || existsSync(join(ROOT, 'src', span));
  if (/^[\w-]+\.(?:ts|mjs|md)$/.test(span)) return FILE_NAMES.has(span) || OTHER_NAMES.has(span);
  const member = /^([A-Z]\w*)\.(#?[a-z]\w*)(?:\(.*\))?$/.exec(span);
  if (member) return declares(String(member[1]), String(member[2]));
  const name = /^((?:\w+\.)*)(\$?[A-Za-z_][\w$]*)(?:\(.*\))?$/.exec(span);
  if (!name || OTHER_PREFIX.test(span)) return true;
  const last = String(name[2]);
  return (
    SOURCE_WORDS.has(last) ||
    SOURCE_WORDS.has(last.replace('$', '')) ||
    SCRIPTS.has(span) ||
    OTHER_NAMES.has(span)
  );
}

/** Whether a module of the repository declares both the type, class or value and, in the same module, the member. */
function declares(owner: string, member: string): boolean {
  const declaration = new RegExp(`\\b(?:class|type|interface|const)\\s+${owner}\\b`);
  const use = new RegExp(`(?<![\\w#])${member}\\b`);
  return (
    SOURCES.some(({ text }) => declaration.test(text) && use.test(text)) ||
    OTHER_NAMES.has(`${owner}.${member}`)
  );
}

/** Names of other programs, made-up names of explanations, and names to avoid. */
const OTHER_NAMES = new Set([
  'CLAUDE.md',
  'SKILL.md',
  'JSON.parse',
  'MEMORY.md',
  'b__read',
  'create_invoice',
  'discount',
  'helpers',
  'my_docs',
  'needs_auth',
  'utils',
  'vitest',
]);
/** Names with these prefixes are made up, or patterns of other programs. */
const OTHER_PREFIX = /^(?:mcp__|npm_config_|toolu_)/;

/** The `toolplane …` commands of a page: in inline code and in lines of code blocks. */
function commandsIn(text: string): string[][] {
  const prose = withoutOutput(text);
  const inline = [...prose.matchAll(/`((?:npx )?toolplane(?: [^`\n]*)?)`/g)].map(([, span]) => String(span));
  const lines = [...prose.matchAll(/^```(?:sh)?\n(.*?)^```$/gms)].flatMap(([, block]) =>
    String(block)
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').replace(/^\$ /, ''))
      .filter((line) => /^(?:npx )?toolplane(?: |$)/.test(line)),
  );
  return [...inline, ...lines].map((command) => command.replace(/^npx /, '').split(/\s+/));
}

/** Recorded output shows mistakes, too. */
function withoutOutput(text: string): string {
  return text.replaceAll(/<!-- (output|generated):.*?<!-- \/\1 -->/gs, '');
}

/** The first word of a command that its parent does not define, and flags that the command does not have. */
function unknownWords(program: Command, [, ...words]: readonly string[]): string[] {
  let command = program;
  let path = 'toolplane';
  const unknown: string[] = [];
  for (const [index, word] of words.entries()) {
    if (word === '--') break;
    if (word.startsWith('--')) {
      const flag = String(/^--[\w-]+/.exec(word)?.[0]);
      const named = command === program ? program.commands.find((it) => it.name() === 'chat') : command;
      if (!flagsOf(program, [command, named ?? command]).has(flag)) unknown.push(`${path} ${flag}`);
      continue;
    }
    const names = word.split('|').map((name) => name.replace(/[….,]+$/, ''));
    const next = command.commands.find(
      (it) => it.name() === names[0] || it.aliases().includes(String(names[0])),
    );
    if (next) {
      for (const other of names.slice(1))
        if (!command.commands.some((it) => it.name() === other)) unknown.push(`${path} ${other}`);
      command = next;
      path += ` ${names[0]}`;
    } else {
      // A word that is no argument either: the command only has sub-commands.
      const takesArguments =
        command.registeredArguments.length > 0 || (index > 0 && command.commands.length === 0);
      if (!takesArguments && !/^[<["'…]/.test(word)) unknown.push(`${path} ${word}`);
      break;
    }
  }
  return unknown;
}

/** Every flag of these commands, or of the whole program. */
function flagsOf(program: Command, commands: readonly Command[] = everyCommand(program)): Set<string> {
  const flags = commands.flatMap(({ options }) =>
    options.flatMap(({ long }) =>
      long ? [long, long.replace('--no-', '--'), long.replace('--', '--no-')] : [],
    ),
  );
  return new Set([...flags, '--help']);
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
