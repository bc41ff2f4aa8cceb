import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Completion, Completions } from '../../terminal/editor/prompt-state.ts';

/** A slash command that can be completed. */
export type CommandEntry = {
  readonly name: string;
  readonly description?: string | undefined;
  /** Whether the command takes an argument. */
  readonly takesArgument: boolean;
};

const MAX_ITEMS = 50;

/** Completes the name of a slash command at the start of a message, or a path after `@`. */
export function completeInput(
  before: string,
  commands: readonly CommandEntry[],
  cwd: string,
): Completions | undefined {
  const [, typed] = /^\/([^\s/]*)$/.exec(before) ?? [];
  if (typed !== undefined) return completeCommand(typed, commands);
  const [, path] = /(?:^|\s)@([^\s@]*)$/.exec(before) ?? [];
  return path === undefined ? undefined : completePath(path, before.length - path.length, cwd);
}

function completeCommand(typed: string, commands: readonly CommandEntry[]): Completions {
  const wanted = typed.toLowerCase();
  const starting = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const containing = commands.filter(
    ({ name }) =>
      wanted.length > 1 && name.toLowerCase().includes(wanted) && !starting.some((it) => it.name === name),
  );
  const items = [...starting, ...containing].slice(0, MAX_ITEMS).map(
    ({ name, description, takesArgument }): Completion => ({
      text: `/${name}${takesArgument ? ' ' : ''}`,
      ...(description !== undefined && { description }),
      ...(!takesArgument && { isWhole: true }),
    }),
  );
  // A completely typed name needs no list.
  const isTyped = items.length === 1 && items[0]?.text.trimEnd() === `/${typed}`;
  return { from: 0, items: isTyped ? [] : items };
}

/** Directories with generated or internal files, which are not completed. */
const SKIPPED: ReadonlySet<string> = new Set([
  '.git',
  'node_modules',
  'dist',
  'build',
  'target',
  '__pycache__',
]);
/** Maximum number of directories that are searched for a file name. */
const MAX_DIRECTORIES = 400;
const MAX_DEPTH = 6;

/** Entries of the named directory; for a name without a slash, also files below the working directory. */
function completePath(typed: string, from: number, cwd: string): Completions {
  const slash = typed.lastIndexOf('/') + 1;
  const directory = typed.slice(0, slash);
  const name = typed.slice(slash).toLowerCase();
  const here = entriesOf(join(cwd, directory))
    .filter(
      (it) => it.name.toLowerCase().startsWith(name) && (name.startsWith('.') || !it.name.startsWith('.')),
    )
    .map((it) => `${directory}${it.name}${it.isDirectory() ? '/' : ''}`)
    .sort();
  const below =
    directory === '' && name.length > 1 ? filesBelow(cwd, name).filter((it) => !here.includes(it)) : [];
  // A path after `@` ends at the first space, so that paths with spaces are left out.
  const paths = [...here, ...below].filter((it) => !/\s/.test(it)).slice(0, MAX_ITEMS);
  return { from, items: paths.map((path) => ({ text: path.endsWith('/') ? path : `${path} ` })) };
}

/** Files whose name contains the typed text, nearest first. */
function filesBelow(cwd: string, name: string): string[] {
  const found: string[] = [];
  let level = [''];
  let searched = 0;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && found.length < MAX_ITEMS; depth += 1) {
    const next: string[] = [];
    for (const directory of level) {
      if (searched >= MAX_DIRECTORIES) return found.sort(byLength);
      searched += 1;
      for (const entry of entriesOf(join(cwd, directory))) {
        const path = `${directory}${entry.name}`;
        if (entry.isDirectory()) {
          if (!SKIPPED.has(entry.name) && !entry.name.startsWith('.')) next.push(`${path}/`);
        } else if (entry.name.toLowerCase().includes(name)) found.push(path);
      }
    }
    level = next;
  }
  return found.sort(byLength);
}

function byLength(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : 1);
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
