import type { Command } from 'commander';

/** What every sub-command is given. */
export type McpFormat = 'text' | 'json';

/** A sub-command that gives one JSON document where one is wanted. */
export function subCommand(mcp: Command, usage: string, options: { readonly hidden?: true } = {}): Command {
  return mcp.command(usage, options).option('--json', 'one JSON document on stdout, also of a failure');
}

export function formatOf({ json }: { readonly json?: true }): McpFormat {
  return json ? 'json' : 'text';
}
