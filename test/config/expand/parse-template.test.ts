import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literalText, type Part, parseTemplate } from '../../../src/config/expand/parse-template.ts';

const text = (it: string): Part => ({ kind: 'text', text: it });
const variable = (name: string, ...otherwise: Part[]): Part => ({ kind: 'variable', name, otherwise });

test.each<[string, Part[]]>([
  ['', []],
  ['plain', [text('plain')]],
  ['${A}', [{ kind: 'variable', name: 'A' }]],
  ['x${_a1}y', [text('x'), { kind: 'variable', name: '_a1' }, text('y')]],
  ['${A:-}', [variable('A')]],
  ['${A:-b c}', [variable('A', text('b c'))]],
  ['${A:-${B:-c}d}', [variable('A', variable('B', text('c')), text('d'))]],
  ['${A:-{"a":{}}}!', [variable('A', text('{"a":{}}')), text('!')]],
  ['${A:-$${B}}', [variable('A', text('${B}'))]],
  ['${secret:git.hub-1}', [{ kind: 'secret', name: 'git.hub-1' }]],
  ['${secret}', [{ kind: 'variable', name: 'secret' }]],
  ['$${A}', [text('${A}')]],
  ['$$${A}', [text('$${A}')]],
  // Similar text that is not a reference stays text.
  ['$A $ {A} a}b{ $$ $(A)', [text('$A $ {A} a}b{ $$ $(A)')]],
])('parses %j', (given, parts) => {
  expect(parseTemplate(given)).toEqual({ kind: 'parts', parts });
});

test.each<[string, number, string]>([
  ['${', 1, 'without "}"'],
  ['ab${A', 3, 'without "}"'],
  ['${A:-b', 1, 'without "}"'],
  ['${A:-{}', 1, 'without "}"'],
  ['${}', 1, 'an invalid "${"; write ${VAR}'],
  ['${a b}', 1, 'an invalid "${"; write ${VAR}'],
  ['${1}', 1, 'an invalid "${"; write ${VAR}'],
  ['${A-b}', 1, 'an invalid "${"; write ${VAR}'],
  ['${A:?b}', 1, 'an invalid "${"; write ${VAR}'],
  ['${ünï}', 1, 'an invalid "${"; write ${VAR}'],
  ['${secret:}', 1, 'write ${secret:name}'],
  ['${secret:a/b}', 1, 'write ${secret:name}'],
  ['${secret:a:-b}', 1, 'write ${secret:name}'],
  ['${env:HOME}', 1, 'in the syntax of other programs, ${env:VAR}; write ${VAR}'],
  ['x ${A:-${}}', 8, 'an invalid "${"; write ${VAR}'],
])('refuses %j at character %i', (given, at, fault) => {
  expect(parseTemplate(given)).toEqual({ kind: 'faulty', at, fault: expect.stringContaining(fault) });
});

test('limits nested defaults to ten levels', () => {
  const nested = (depth: number) => '${A:-'.repeat(depth) + '}'.repeat(depth);
  expect(parseTemplate(nested(10))).toMatchObject({ kind: 'parts' });
  expect(parseTemplate(nested(11))).toMatchObject({
    kind: 'faulty',
    fault: expect.stringContaining('10 deep'),
  });
  expect(parseTemplate(nested(100_000))).toMatchObject({ kind: 'faulty' });
});

const TRICKY = fc
  .array(fc.constantFrom('$', '{', '}', '${', 'A', ':-', 'secret:', 'é', ' '))
  .map((it) => it.join(''));

test('parses any text without throwing; a text without "${" is unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), TRICKY), (given) => {
      const read = parseTemplate(given);
      if (given.includes('${')) expect(read.kind).toMatch(/parts|faulty/);
      else expect(read).toEqual({ kind: 'parts', parts: given === '' ? [] : [text(given)] });
    }),
  );
});

test('escaping and parsing a text gives the same text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), TRICKY), (given) => {
      expect(parseTemplate(literalText(given))).toEqual({
        kind: 'parts',
        parts: given === '' ? [] : [text(given)],
      });
    }),
  );
});
