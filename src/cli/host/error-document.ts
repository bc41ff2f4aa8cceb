import type { Command } from 'commander';
import { visibleJson } from '../../base/visible-text.ts';
import { neutralise } from '../chat/neutralise.ts';
import { jsonText } from './lines.ts';

/** Has every command that gives a document, and those above it, give one of what was not understood, beside the line on stderr. */
export function withErrorDocuments(command: Command): void {
  for (const sub of command.commands) withErrorDocuments(sub);
  if (givesJson(command)) command.configureOutput({ outputError });
}

function givesJson({ options, commands }: Command): boolean {
  return options.some(({ long }) => long === '--json') || commands.some(givesJson);
}

function outputError(text: string, write: (text: string) => void): void {
  const message = neutralise(text.trimEnd());
  write(`${message}\n`);
  if (wantsJson(process.argv)) {
    process.stdout.write(visibleJson(jsonText({ error: { message: message.replace(/^error: /, '') } })));
  }
}

/** Options may not have been read yet when something is wrong with them. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).includes('--json');
}
