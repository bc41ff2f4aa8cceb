import { visibleJson } from '../../base/text/display-text.ts';
import { neutralise } from '../chat/neutralise.ts';
import { jsonText } from './lines.ts';

/** Prints a usage error to stderr and, with `--json`, as a document to stdout. */
export function outputError(text: string, write: (text: string) => void): void {
  const message = neutralise(text.trimEnd());
  write(`${message}\n`);
  if (wantsJson(process.argv)) {
    process.stdout.write(visibleJson(jsonText({ error: { message: message.replace(/^error: /, '') } })));
  }
}

/** Whether the command line asks for JSON; usage errors may occur before its options are parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).includes('--json');
}
