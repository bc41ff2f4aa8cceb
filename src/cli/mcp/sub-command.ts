import type { Command } from 'commander';

/** What every sub-command is given. */
export type McpFormat = 'text' | 'json';

/** Adds `--json` to a command that prints one JSON document. */
export function addJsonFlag(command: Command): Command {
  return command.option('--json', 'one JSON document on stdout, also of a failure');
}

export function formatOf({ json }: { readonly json?: true }): McpFormat {
  return json ? 'json' : 'text';
}
