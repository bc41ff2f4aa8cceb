import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Part, parseTemplate } from '../../../src/config/expand/parse-template.ts';
import type { ImportContext, ImportFile } from '../../../src/config/import/convert-entry.ts';
import { AFTER_DOLLAR, bracedText, dollarText, editorText } from '../../../src/config/import/variables.ts';

const ENV = { SET: 'value', X: 'x' };
const PLACE: ImportFile = { path: '/p/.vscode/mcp.json', from: 'project' };
const WORLD: ImportContext = { cwd: '/p', project: '/p', userHome: '/h', env: ENV, platform: 'linux' };

const TEXT = '"$$NAME" is imported as text, not as a variable; to use the variable, write ${NAME}';

test.each<[string, string, string[]]>([
  ['$HOME/x', '${HOME}/x', []],
  ['${HOME}/$A-$B', '${HOME}/${A}-${B}', []],
  ['${A:-b}', '${A:-b}', []],
  ['pa$$word', 'pa$$word', [TEXT]],
  ['pa$$$word', 'pa$$$word', [TEXT]],
  ['cost $5, $1abc, a$', 'cost $5, $1abc, a$', []],
  ['a${b', 'a$${b', []],
  [
    '${a b}',
    '$${a b}',
    ['${a b} is not a variable in the other program; it is imported as literal text, written $${a b}'],
  ],
  [
    'a$${no}',
    'a$$${no}',
    ['${no} is not a variable in the other program; it is imported as literal text, written $${no}'],
  ],
])('converts %s with variables like $NAME to %s', (text, ours, notes) => {
  expect(dollarText(text, PLACE, WORLD)).toEqual({ text: ours, notes });
});

test('converts only variables in braces', () => {
  expect(bracedText('pa$$word $HOME ${HOME}', PLACE, WORLD)).toEqual({
    text: 'pa$$word $HOME ${HOME}',
    notes: [],
  });
});

test.each([
  [dollarText, 'a$$SET'],
  [dollarText, '$${SET}'],
  [dollarText, '$${no:-default}'],
  [bracedText, '$${SET}'],
  [editorText, '$${env:SET}'],
  [editorText, '$${input:key}'],
])('refuses a "$" directly before a variable: %o %s', (rewrite, text) => {
  expect(rewrite(text, PLACE, WORLD).fault).toBe(AFTER_DOLLAR);
});

test('substitutes the folder of an editor literally; other text stays text', () => {
  const place: ImportFile = { path: '/a${b}/.vscode/mcp.json', from: 'project' };
  expect(editorText('${workspaceFolder}/${', place, WORLD).text).toBe('/a$${b}/$${');
});

/** The text after the substitution of the other program. */
function theirs(text: string): string {
  return text.replace(/\$(?:(\w+)|\{([^}]+?)(?::-([^}]*))?\})/g, (whole, bare, braced, otherwise) => {
    return (ENV as Record<string, string>)[bare ?? braced] ?? otherwise ?? whole;
  });
}

/** The text after Toolplane's substitution; undefined if a variable is missing, which is reported at the start. */
function ours(parts: readonly Part[]): string | undefined {
  const pieces = parts.map((part) => {
    if (part.kind === 'text') return part.text;
    if (part.kind === 'secret') return undefined;
    return (ENV as Record<string, string>)[part.name] ?? (part.otherwise && ours(part.otherwise));
  });
  return pieces.includes(undefined) ? undefined : pieces.join('');
}

test('any text keeps its meaning or produces a note or fault', () => {
  const word = fc.constantFrom('$', '$', '{', '}', '${', '$${', 'SET', 'X', 'no', ':-', '5', ' ', '-');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      const text = words.join('');
      const { text: written, notes = [], fault } = dollarText(text, PLACE, WORLD);
      if (fault !== undefined || notes.some((it) => it.includes('is imported as literal text'))) return;
      const template = parseTemplate(written);
      if (template.kind === 'faulty') throw new Error(`${written}: ${template.fault}`);
      const meant = ours(template.parts);
      if (meant !== undefined) expect(meant).toBe(theirs(text));
    }),
    { numRuns: 3_000 },
  );
});
