import { dirname } from 'node:path';
import { visibleText } from '../../base/text/display-text.ts';
import { redactText } from '../../base/text/redact.ts';
import { literalText } from '../expand/parse-template.ts';
import type { ImportContext, ImportFile, Rewritten } from './importer.ts';

/** What any system calls a variable, and `${NAME}` takes. */
export function isVariableName(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name);
}

/** Why a text cannot be said in our words: `$${` is how a literal `${` is written here. */
export const AFTER_DOLLAR =
  'a "$" stands right before a variable in one of its texts, which cannot be written here; put the "$" into the variable';

/** A program that puts nothing in: what looks like a variable was text there, and stays so. */
export function plainText(text: string): Rewritten {
  const inner = [...text.matchAll(/\$\{([^}]*)\}/g)].map((it) => it[1] ?? '');
  return { text: literalText(text), notes: inner.map(plainNote) };
}

/** What is said of a `${…}` that was no variable. */
function plainNote(inner: string): string {
  const shown = shownPlace(inner);
  return `${shown} was plain text there and stays plain text: $${shown}`;
}

/** The variables of editors: `${env:NAME}`, `${userHome}`, `${workspaceFolder}` and what is asked for, `${input:id}`. */
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

/** What a secret may be called, of any text. */
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
      note: `${shownPlace(inner)} is prompted for there; set it here: toolplane secret set ${secret}`,
    };
  }
  if (inner === 'userHome') return { put: '${HOME}' };
  if (inner === '/' || inner === 'pathSeparator') return { put: context.platform === 'win32' ? '\\' : '/' };
  const folder = place.from === 'project' ? dirname(dirname(place.path)) : undefined;
  if ((inner === 'workspaceFolder' || inner === 'workspaceRoot') && folder !== undefined) {
    return { put: literalText(folder), note: `\${${inner}} became ${visibleText(folder)}` };
  }
  // One of ours in a file of theirs: people copy entries.
  if (isVariableName(inner) && !EDITORS_OWN.test(inner)) return {};
  return { note: `${shownPlace(inner)} has no equivalent here: replace it by its value` };
}

const EDITORS_OWN = /^(workspace|file|selected|relative|cwd|exec|default|line)/;

/** It stands in a text that may be secret: what looks like no name is not shown. */
function shownPlace(inner: string): string {
  const isName = /^[\w:. -]{1,60}$/.test(inner) && redactText(inner) === inner;
  return isName ? `\${${inner}}` : '${…}';
}

type Rewrite = (text: string, place: ImportFile, context: ImportContext) => Rewritten;

/** A program whose variables are written as ours, `${NAME}` and `${NAME:-default}`. */
export const bracedText: Rewrite = (text, _, { env }) => rewrite(text, /\$\{([^}]+)\}/g, env);

/** A program that also knows them without braces, `$NAME`. */
export const dollarText: Rewrite = (text, _, { env }) => rewrite(text, /\$(?:\{([^}]+)\}|(\w+))/g, env);

/**
 * Such programs leave what is not set as it stands, and know no way to write a text that looks like a variable; ours is
 * `$${`, so that a "$" right before a variable means something else here.
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
