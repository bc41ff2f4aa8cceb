import type { Command } from 'commander';
import { neutralise } from '../chat/neutralise.ts';
import { jsonText } from '../host/lines.ts';

/** What every sub-command is given. */
export type McpFormat = 'text' | 'json';

/** A sub-command that gives one JSON document where one is wanted, also if it was not understood. */
export function subCommand(mcp: Command, usage: string, options: { readonly hidden?: true } = {}): Command {
  const command = mcp.command(usage, options);
  return withErrorDocument(command.option('--json', 'one JSON document on stdout, also of a failure'));
}

/** Has the command print a document of what was not understood, beside the line on stderr. */
export function withErrorDocument(command: Command): Command {
  return command.configureOutput({
    outputError(text, write) {
      const message = neutralise(text.trimEnd());
      write(`${message}\n`);
      if (wantsJson(process.argv)) {
        process.stdout.write(jsonText({ error: { message: message.replace(/^error: /, '') } }));
      }
    },
  });
}

/** Options may not have been read yet when something is wrong with them. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).includes('--json');
}

export function formatOf({ json }: { readonly json?: true }): McpFormat {
  return json ? 'json' : 'text';
}
