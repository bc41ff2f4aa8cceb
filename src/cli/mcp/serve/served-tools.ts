import type { BuiltIn } from '../../../agent/builtins/built-in.ts';
import { EDIT } from '../../../agent/builtins/files/edit.ts';
import { READ } from '../../../agent/builtins/files/read.ts';
import { WRITE } from '../../../agent/builtins/files/write.ts';
import { GLOB } from '../../../agent/builtins/search/glob.ts';
import { GREP } from '../../../agent/builtins/search/grep.ts';
import { BASH } from '../../../agent/builtins/shell/bash.ts';
import { nearest } from '../../../base/text/nearest.ts';
import { NotUnderstood } from '../../host/not-understood.ts';

/** What a flag opens beside reading. */
export type Opened = 'writes' | 'shell';

/** Built-in tools that mean something without a session of an agent, and what each takes to be served. */
const SERVED: readonly { readonly builtIn: BuiltIn; readonly needs?: Opened }[] = [
  { builtIn: READ },
  { builtIn: GLOB },
  { builtIn: GREP },
  { builtIn: EDIT, needs: 'writes' },
  { builtIn: WRITE, needs: 'writes' },
  { builtIn: BASH, needs: 'shell' },
];

/** The tools that are wanted, as far as they are opened; a name that is none, or shut, ends the command with 2. */
export function servedTools(opened: readonly Opened[], wanted?: readonly string[]): readonly BuiltIn[] {
  const isOpen = (needs: Opened | undefined) => needs === undefined || opened.includes(needs);
  if (!wanted) return SERVED.filter(({ needs }) => isOpen(needs)).map(({ builtIn }) => builtIn);
  return [...new Set(wanted)].map((name) => {
    const found = SERVED.find(({ builtIn }) => builtIn.listed.name === name);
    if (!found) throw new NotUnderstood(unknownTool(name));
    if (!isOpen(found.needs)) {
      throw new NotUnderstood(
        `${name} is shut: --allow-${found.needs} opens it, and --help says what that means`,
      );
    }
    return found.builtIn;
  });
}

function unknownTool(name: string): string {
  const names = SERVED.map(({ builtIn }) => builtIn.listed.name);
  const meant = nearest(name, names) ?? names.find((it) => it.toLowerCase() === name.toLowerCase());
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `there is no tool "${name}" to serve${hint} (there are ${names.join(', ')})`;
}
