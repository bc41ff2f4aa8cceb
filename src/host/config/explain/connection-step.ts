import { shellWord } from '../../../base/shell-word.ts';
import { type MissingVariable, missingVariableAdvice } from '../../connect/stdio/missing-variable.ts';
import type { ConfiguredServer } from '../model.ts';
import { maskEntry } from './mask-entry.ts';
import { standOf, standText } from './stand.ts';

/** What to do about a server that was dialled and did not come, by the kind of failure. */
export function connectionStep(
  { name, written }: ConfiguredServer,
  code: string | undefined,
  missing?: MissingVariable,
): string {
  const place = standText(standOf(written));
  if (missing !== undefined) return `${missingVariableAdvice(missing)} at ${place}`;
  switch (code) {
    case 'unauthorized':
      return `set "headers": { "Authorization": "Bearer \${TOKEN}" } at ${place} and export TOKEN=…, or check what they hold`;
    case 'spawn-failed':
      return `if it needs variables of your shell, add -e NAME='\${NAME}' or "inheritEnv": ["NAME"] at ${place}: servers get only a limited environment; to run it with that: env -i HOME="$HOME" PATH="$PATH" ${commandLine(written.raw)}`;
    case 'timeout':
      return `if it is only slow: set serverSettings.${name}.connectTimeoutMs (milliseconds) in your settings.json`;
    case 'unreachable':
      return `check "url" and "type" at ${place}, and that the server runs`;
    default:
      return `mend it at ${place}`;
  }
}

/** As it would be typed; what may be secret is masked, what is put in is not. */
function commandLine(raw: unknown): string {
  const { command, args } = maskEntry(raw);
  const words = [command, ...(Array.isArray(args) ? args : [])];
  return words.map((word) => quoted(String(word))).join(' ');
}

/** A variable is one for a shell, too, and a flag is no name of a stranger's. */
function quoted(word: string): string {
  if (/^--?[\w-]+$/.test(word)) return word;
  return /^\$\{\w+\}$/.test(word) ? `"${word}"` : shellWord(word);
}
