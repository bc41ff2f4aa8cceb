import { literalText } from '../expand/template.ts';
import type { ForeignPlace, ForeignWorld, Rewritten } from './foreign.ts';
import { AFTER_DOLLAR, isVariableName, plainNote } from './variables.ts';

type Rewrite = (text: string, place: ForeignPlace, world: ForeignWorld) => Rewritten;

/** A program whose variables are written as ours, `${NAME}` and `${NAME:-default}`. */
export const bracedText: Rewrite = (text, _, { env }) => rewrite(text, /\$\{([^}]+)\}/g, env);

/** A program that also knows them without braces, `$NAME`. */
export const dollarText: Rewrite = (text, _, { env }) => rewrite(text, /\$(?:\{([^}]+)\}|(\w+))/g, env);

/**
 * Such programs leave what is not set as it stands, and know no way to write a text that looks like a variable; ours is
 * `$${`, so that a "$" right before a variable means something else here.
 */
function rewrite(text: string, pattern: RegExp, env: ForeignWorld['env']): Rewritten {
  const notes: string[] = [];
  const ours: string[] = [];
  let [fault, at]: [string | undefined, number] = [undefined, 0];
  for (const { 0: whole, 1: braced, 2: bare = '', index } of text.matchAll(pattern)) {
    const before = literalText(text.slice(at, index));
    at = index + whole.length;
    const [name = '', ...defaults] = (braced ?? bare).split(':-');
    const isAfterDollar = before.endsWith('$');
    const isText = isAfterDollar && defaults.length === 0 && env[name] === undefined;
    if (!isVariableName(name) || isText) {
      ours.push(before, literalText(whole));
      if (braced !== undefined) notes.push(plainNote(braced));
      else if (isText) notes.push('"$$" before a name is taken for text; for a variable, write ${NAME}');
    } else {
      ours.push(before, `\${${braced ?? bare}}`);
      if (isAfterDollar) fault ??= AFTER_DOLLAR;
      if (defaults.join().includes('{')) fault ??= BRACE;
    }
  }
  ours.push(literalText(text.slice(at)));
  return { text: ours.join(''), notes, ...(fault !== undefined && { fault }) };
}

const BRACE =
  'a default in one of its texts holds a brace, which means another thing here; put in what it stands for';
