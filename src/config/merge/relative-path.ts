import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { hasOwnDirectory, type Scope } from '../model.ts';

/** A relative path in an entry that does not mean a file of the project, and what to tell about it. */
export type RelativePath = { readonly where: readonly (string | number)[]; readonly message: string };

/** The first relative path in an entry whose server runs in a directory of its own; undefined if there is none. */
export function relativePath(scope: Scope, entry: ExternalServerEntry): RelativePath | undefined {
  if (!hasOwnDirectory(scope) || !('command' in entry) || entry.command === undefined) return undefined;
  const { command, args = [], cwd } = entry;
  if (cwd !== undefined) {
    if (isFixed(cwd)) return undefined;
    const message = `it starts at the directory of this file, not at the project; write an absolute path or ${PROJECT}`;
    return { where: ['cwd'], message };
  }
  const instead = scope === 'plugin' ? '${TOOLPLANE_PLUGIN_ROOT}' : PROJECT;
  const message = `it is relative to the server's own directory, since a server of scope ${scope} does not run in the project; write an absolute path or ${instead}, or set "cwd"`;
  if (/[\\/]/.test(command) && !isFixed(command)) return { where: ['command'], message };
  const at = args.findIndex((arg, index) => DOTTED.test(arg) || isScript(command, args, index));
  return at < 0 ? undefined : { where: ['args', at], message };
}

const PROJECT = '${TOOLPLANE_PROJECT_DIR}';

/** `.`, `../x`, and the same as the value of a flag. */
const DOTTED = /^(?:--?[\w-]+=)?\.{1,2}(?:[\\/]|$)/;

/** Absolute, or begins with a variable that is put in later. */
function isFixed(path: string): boolean {
  return /^(?:\$\{|[\\/]|[a-z]:[\\/])/i.test(path);
}

/** Whether an argument is the file that an interpreter runs. */
function isScript(command: string, args: readonly string[], index: number): boolean {
  const arg = args[index] as string;
  const isFirst = args.slice(0, index).every((it) => it.startsWith('-'));
  return isFirst && INTERPRETER.test(command) && SCRIPT.test(arg) && !isFixed(arg) && !arg.includes('://');
}

const INTERPRETER =
  /(?:^|[\\/])(?:node|tsx|bun|deno|python[\d.]*|ruby|perl|php|java|bash|sh|zsh)(?:\.exe)?$/i;
const SCRIPT = /^[^-].*\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|jar)$/i;
