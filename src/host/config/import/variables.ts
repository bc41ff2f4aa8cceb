import { dirname } from 'node:path';
import { literalText } from '../expand/template.ts';
import type { ForeignPlace, ForeignWorld, Rewritten } from './foreign.ts';

/** A program that puts nothing in: what looks like a variable was text there, and stays so. */
export function plainText(text: string): Rewritten {
  const names = [...text.matchAll(/\$\{[^}]*\}/g)].map(([found]) => found);
  return {
    text: literalText(text),
    notes: names.map((name) => `${name} was plain text there, and stays so: $${name}`),
  };
}

/** A program whose variables are written as ours. */
export function sameText(text: string): Rewritten {
  return { text };
}

/** The variables of editors: `${env:NAME}`, `${userHome}`, `${workspaceFolder}` and what is asked for, `${input:id}`. */
export function editorText(text: string, place: ForeignPlace, world: ForeignWorld): Rewritten {
  const notes: string[] = [];
  const rewritten = text.replace(/\$\{([^}]*)\}/g, (found: string, inner: string) => {
    const { put, note } = editorVariable(inner, place, world);
    if (note !== undefined) notes.push(note);
    return put ?? found;
  });
  return { text: rewritten, notes };
}

/** What a secret may be called, of any text. */
export function secretName(text: string): string {
  return text.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[-.]+/, '') || 'secret';
}

function editorVariable(
  inner: string,
  place: ForeignPlace,
  world: ForeignWorld,
): { readonly put?: string; readonly note?: string } {
  const [, kind, name = ''] = /^([A-Za-z]+):(.*)$/s.exec(inner) ?? [];
  if (kind === 'env' && VARIABLE.test(name)) return { put: `\${${name}}` };
  if (kind === 'input' && name !== '') {
    const secret = secretName(name);
    return {
      put: `\${secret:${secret}}`,
      note: `\${${inner}} is asked for there; set it here: toolplane secret set ${secret}`,
    };
  }
  if (inner === 'userHome') return { put: '${HOME}' };
  if (inner === '/' || inner === 'pathSeparator') return { put: world.platform === 'win32' ? '\\' : '/' };
  const folder = place.from === 'project' ? dirname(dirname(place.path)) : undefined;
  if ((inner === 'workspaceFolder' || inner === 'workspaceRoot') && folder !== undefined) {
    return { put: folder, note: `\${${inner}} became ${folder}` };
  }
  // One of ours in a file of theirs: people copy entries.
  if (VARIABLE.test(inner) && !EDITORS_OWN.test(inner)) return {};
  return { note: `\${${inner}} has no counterpart here: put in what it stands for` };
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const EDITORS_OWN = /^(workspace|file|selected|relative|cwd|exec|default|line)/;
