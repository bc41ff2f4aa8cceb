import { dirname } from 'node:path';
import { visibleText } from '../../base/text/display-text.ts';
import { redactText } from '../../base/text/redact.ts';
import { literalText } from '../expand/parse-template.ts';
import type { ImportContext, ImportFile, Rewritten } from './convert-entry.ts';

/** Whether the name is valid for a variable on every system and in `${NAME}`. */
export function isVariableName(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name);
}

/** The string has no equivalent, because `$${` is the escape of a literal `${` here. */
export const AFTER_DOLLAR =
  'a string of the entry has a "$" directly before a variable, which is not supported; include the "$" in the value of the variable';

/** For programs without variables: what looks like a variable is text, and stays text. */
export function plainText(text: string): Rewritten {
  const inner = [...text.matchAll(/\$\{([^}]*)\}/g)].map((it) => it[1] ?? '');
  return { text: literalText(text), notes: inner.map(plainNote) };
}

/** The note about a `${…}` that is not a variable in the other program. */
function plainNote(inner: string): string {
  const shown = shownPlace(inner);
  return `${shown} is not a variable in the other program; it is imported as literal text, written $${shown}`;
}

/** The variables of editors: `${env:NAME}`, `${userHome}`, `${workspaceFolder}` and prompts, `${input:id}`. */
export function editorText(text: string, place: ImportFile, context: ImportContext): Rewritten {
  const notes: string[] = [];
  const ours: string[] = [];
  let [fault, at]: [string | undefined, number] = [undefined, 0];
  for (const { 0: whole, 1: inner = '', index } of text.matchAll(/\$\{([^}]*)\}/g)) {
    const before = at === index ? (ours.at(-1) ?? '') : literalText(text.slice(at, index));
    if (at < index) ours.push(before);
    at = index + whole.length;
    const { put = whole, note } = editorVariable(inner, place, context);
    if (note !== undefined) notes.push(note);
    if (before.endsWith('$') && put.startsWith('${')) fault ??= AFTER_DOLLAR;
    ours.push(put);
  }
  ours.push(literalText(text.slice(at)));
  return { text: ours.join(''), notes, ...(fault !== undefined && { fault }) };
}

/** A valid name of a secret, derived from any text. */
export function secretName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[-.]+/, '');
  return name.slice(0, MAX_SECRET_NAME_LENGTH) || 'secret';
}

const MAX_SECRET_NAME_LENGTH = 128;

function editorVariable(
  inner: string,
  place: ImportFile,
  context: ImportContext,
): { readonly put?: string; readonly note?: string } {
  const [, kind, name = ''] = /^([A-Za-z]+):(.*)$/s.exec(inner) ?? [];
  if (kind === 'env' && isVariableName(name)) return { put: `\${${name}}` };
  if (kind === 'input' && name !== '') {
    const secret = secretName(name);
    return {
      put: `\${secret:${secret}}`,
      note: `${shownPlace(inner)} is a value that the other program asks the user for; store the value with: toolplane secret set ${secret}`,
    };
  }
  if (inner === 'userHome') return { put: '${HOME}' };
  if (inner === '/' || inner === 'pathSeparator') return { put: context.platform === 'win32' ? '\\' : '/' };
  const folder = place.from === 'project' ? dirname(dirname(place.path)) : undefined;
  if ((inner === 'workspaceFolder' || inner === 'workspaceRoot') && folder !== undefined) {
    return { put: literalText(folder), note: `\${${inner}} became ${visibleText(folder)}` };
  }
  // A variable in Toolplane's syntax: people copy entries between programs.
  if (isVariableName(inner) && !EDITORS_OWN.test(inner)) return {};
  return { note: `${shownPlace(inner)} has no equivalent in Toolplane; replace it by its value` };
}

const EDITORS_OWN = /^(workspace|file|selected|relative|cwd|exec|default|line)/;

/** The reference for a note; the string may be secret, so only names are shown. */
function shownPlace(inner: string): string {
  const isName = /^[\w:. -]{1,60}$/.test(inner) && redactText(inner) === inner;
  return isName ? `\${${inner}}` : '${…}';
}

type Rewrite = (text: string, place: ImportFile, context: ImportContext) => Rewritten;

/** For programs with the same syntax of variables, `${NAME}` and `${NAME:-default}`. */
export const bracedText: Rewrite = (text, _, { env }) => rewrite(text, /\$\{([^}]+)\}/g, env);

/** For programs that also support variables without braces, `$NAME`. */
export const dollarText: Rewrite = (text, _, { env }) => rewrite(text, /\$(?:\{([^}]+)\}|(\w+))/g, env);

/**
 * Such programs leave unset variables as text and have no escape for `${`. Here the escape is `$${`, so a "$" directly
 * before a variable has another meaning.
 */
function rewrite(text: string, pattern: RegExp, env: ImportContext['env']): Rewritten {
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
      else if (isText)
        notes.push('"$$NAME" is imported as text, not as a variable; to use the variable, write ${NAME}');
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
  'the default value of a variable in the entry contains a brace, which has another meaning in Toolplane; replace the variable by its value';
