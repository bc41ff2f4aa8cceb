import type { Command } from 'commander';

/** One command: what `--help` lists, and the module that defines its arguments, flags and action. */
export type CommandRow = {
  readonly name: string;
  readonly summary: string;
  /** The command works, but `--help` does not list it. */
  readonly isHidden?: true;
  readonly load: () => Promise<(command: Command) => void>;
};

const loaders = new WeakMap<Command, CommandRow['load']>();

/** Adds commands that `--help` lists at once. Their modules are loaded by `loadNamed` or `loadAll`. */
export function addCommands(parent: Command, rows: readonly CommandRow[]): void {
  for (const { name, summary, isHidden = false, load } of rows) {
    loaders.set(parent.command(name, { hidden: isHidden }).description(summary), load);
  }
}

/** Defines the commands that these words name, such as `mcp add`, and loads no other module. */
export async function loadNamed(program: Command, words: readonly string[]): Promise<void> {
  let parent = program;
  for (const word of words) {
    const named = parent.commands.find((command) => command.name() === word);
    if (!named) continue;
    await define(named);
    parent = named;
  }
}

/** Defines every command, for documentation and tests. */
export async function loadAll(parent: Command): Promise<void> {
  for (const command of parent.commands) {
    await define(command);
    await loadAll(command);
  }
}

async function define(command: Command): Promise<void> {
  const load = loaders.get(command);
  if (!load) return;
  loaders.delete(command);
  (await load())(command);
}
