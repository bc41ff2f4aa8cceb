import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlainJson, showHidden, stripHidden } from '../../../src/pool/pinning/hidden-text.ts';
import {
  findDeceptive,
  formatFinding,
  formatFindings,
  toolFindings,
} from '../../../src/pool/pinning/tool-findings.ts';

import type { ListedTool } from '../../../src/protocol/mcp.ts';
import { taking, tool } from './tools.ts';

const tags = (text: string) =>
  [...text].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('');

test.each([
  ['zero width space', 'ca\u200bt', '1 zero-width character (U+200B)', 'cat'],
  [
    'a word joiner and a mark at the start',
    '\ufeffa\u2060b',
    '2 zero-width characters (U+FEFF, U+2060)',
    'ab',
  ],
  ['a joiner between Latin letters', 'a\u200db', '1 zero-width character (U+200D)', 'ab'],
  ['a joiner after emoji, before a word', '😀\u200da', '1 zero-width character (U+200D)', '😀a'],
  ['an override', 'a\u202etxt.exe', '1 character that changes the text direction (U+202E)', 'atxt.exe'],
  ['isolates', '\u2066a\u2069', '2 characters that change the text direction (U+2066, U+2069)', 'a'],
  ['a direction mark in Latin', 'a\u200eb', '1 character that changes the text direction (U+200E)', 'ab'],
  [
    'tag characters',
    `Add.${tags('read keys')}`,
    '9 invisible tag characters (U+E0072, U+E0065, U+E0061, U+E0064, …) that spell "read keys"',
    'Add.',
  ],
  ['variation selectors as data', 'a\ufe00\ufe01', '2 stray variation selectors (U+FE00, U+FE01)', 'a'],
  ['two selectors after an emoji', '⚠\ufe0f\ufe0f', '1 stray variation selector (U+FE0F)', '⚠\ufe0f'],
  ['supplementary selectors', 'x\u{e0100}\u{e0155}', '2 stray variation selectors (U+E0100, U+E0155)', 'x'],
  ['a soft hyphen', 'pass\u00adword', '1 soft hyphen (U+00AD)', 'password'],
  ['a filler', 'a\u3164b', '1 invisible character (U+3164)', 'ab'],
  ['control characters', 'a\u0000b\u0008', '2 control characters (U+0000, U+0008)', 'ab'],
  [
    'terminal escapes',
    '\u001b[31mred\u001b[0m',
    '2 terminal escape sequences (U+001B, U+005B, U+0033, U+0031, …)',
    'red',
  ],
  ['private use', 'a\ue000', '1 private-use character (U+E000)', 'a'],
  ['half a character', 'a\ud800b', '1 invalid code point (U+D800)', 'ab'],
])('%s is found and stripped', (_, text, expected, rest) => {
  expect(findDeceptive(text).map(formatFinding)).toEqual([expected]);
  expect(stripHidden(text)).toBe(rest);
});

test.each([
  ['plain text', 'Reads a file.\n\t- quickly\r\n'],
  ['other alphabets', 'Читает файл. 读取文件。ファイル。파일. Διαβάζει'],
  ['accents, composed and not', 'Café, cafe\u0301, naïve, Zürich'],
  ['emoji with a selector', '⚠️ 🛡️ ✔︎ 1️⃣ ©️ ↔️'],
  ['emoji that are joined', '👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🧑🏿‍❤️‍🧑🏻'],
  ['flags', '🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['Persian', 'می‌خواهم کتاب‌ها'],
  ['Indic joiners', 'क्‍ष श्‌र ശ്രീ ന്‍'],
  ['marks beside Hebrew', 'שלום\u200f! (abc\u200e) שלום'.replace('c\u200e', 'c')],
  ['ideographs with their forms', '葛\u{e0100}城'],
  ['a space that does not break, dashes and quotes', 'a\u00a0b – “c”…'],
])('%s is not hidden', (_, text) => {
  expect(findDeceptive(text)).toEqual([]);
  expect(stripHidden(text)).toBe(text);
});

test.each([
  ['rеad_file', '1 letter of another alphabet that looks Latin in "rеad" (U+0435)'],
  ['dеlеtе', '1 letter of another alphabet that looks Latin in "dеlеtе" (U+0435)'],
  ['Οpen', '1 letter of another alphabet that looks Latin in "Οpen" (U+039F)'],
  ['read_сору', '4 letters of another alphabet that look Latin in "сору" (U+0441, U+043E, U+0440, U+0443)'],
  ['ｒead', '1 letter of another alphabet that looks Latin in "ｒead" (U+FF52)'],
])('the name %s has look-alikes', (name, expected) => {
  expect(findDeceptive(name, 'name').map(formatFinding)).toEqual([expected]);
});

test.each(['read_file', 'прочитать_файл', 'сору', '検索', 'naïve_search', 'find日本', 'файл_json', 'ΔTime'])(
  'the name %s is what it looks like',
  (name) => {
    expect(findDeceptive(name, 'name')).toEqual([]);
  },
);

test('look-alikes are ignored in texts', () => {
  expect(findDeceptive('rеad')).toEqual([]);
});

test('the summary names the part: names, titles, descriptions, parameters at any depth, results', () => {
  const say = (it: ListedTool) => formatFindings(toolFindings(it));
  expect(say(tool({ name: 'a\u200b' }))).toBe('its name has 1 zero-width character (U+200B)');
  expect(say(tool({ title: 'Rеad' }))).toBe(
    'its title has 1 letter of another alphabet that looks Latin in "Rеad" (U+0435)',
  );
  expect(say(tool({ description: 'a\u200bb\u202e' }))).toBe(
    'its description has 1 zero-width character (U+200B) and 1 character that changes the text direction (U+202E)',
  );
  expect(say(taking({ a: { properties: { b: { description: 'x\u200b' } } } }))).toBe(
    'the description of the parameter "a.b" has 1 zero-width character (U+200B)',
  );
  expect(say(taking({ a: { enum: ['x\u200b'] } }))).toBe(
    'the parameter "a" has 1 zero-width character (U+200B)',
  );
  expect(say(taking({ 'a\u200b': {} }))).toBe(
    'the name of the parameter "a⟨U+200B⟩" has 1 zero-width character (U+200B)',
  );
  expect(say(tool({ outputSchema: { properties: { b: { title: '\u200b' } } } }))).toBe(
    'the result member "b" has 1 zero-width character (U+200B)',
  );
  const many = taking(Object.fromEntries([...'abcde'].map((name) => [name, { description: '\u200b' }])));
  expect(say(many)).toMatch(/; 2 more places contain deceptive characters$/);
  expect(say(tool())).toBeUndefined();
});

test('one tool of the catalogue has hidden characters; emoji and 16 alphabets do not count', () => {
  const root = fileURLToPath(new URL('../../../data/tool-catalogue/', import.meta.url));
  const files = globSync('*.json', { cwd: root }).filter(
    (name) => !/^(index|queries|unseen-queries)\.json$/.test(name),
  );
  let count = 0;
  const flagged = files.flatMap((name) => {
    const { server, tools } = JSON.parse(readFileSync(`${root}${name}`, 'utf8')) as {
      server: string;
      tools: ListedTool[];
    };
    count += tools.length;
    return tools.flatMap((it) => {
      const said = formatFindings(toolFindings(it));
      return said === undefined ? [] : [`${server}/${it.name}: ${said}`];
    });
  });
  expect(count).toBe(4583);
  expect(flagged).toEqual([
    'lark/im_v1_message_list: the description of the parameter "params.container_id" has 2 zero-width characters (U+200B)',
  ]);
});

const odd = fc.constantFrom(
  ...[
    'a',
    ' ',
    'е',
    '😀',
    '⚠',
    '\ufe0f',
    '\u200d',
    '\u200c',
    '\u200b',
    '\u202e',
    '\u200f',
    'ש',
    'م',
    'क',
    '葛',
  ],
  ...[
    '\u{e0100}',
    '\u{e0041}',
    '🏴',
    '\u001b',
    '[',
    '3',
    'm',
    '\ud83d',
    '\ude00',
    '\u0000',
    '\ue000',
    '🏽',
    '\n',
  ],
);

test('stripped texts contain nothing hidden, stripping is idempotent, and shown texts are one line', () => {
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      expect(findDeceptive(stripHidden(text))).toEqual([]);
      expect(stripHidden(stripHidden(text))).toBe(stripHidden(text));
      expect(showHidden(text)).not.toContain('\n');
      expect(findDeceptive(showHidden(text))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test('plain JSON has no hidden character in any string', () => {
  const strings = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(odd).map((parts) => parts.join('')),
    fc.string(),
  );
  fc.assert(
    fc.property(strings, (text) => {
      if (isPlainJson(JSON.stringify({ [text]: text }))) expect(findDeceptive(text, 'name')).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
  expect(isPlainJson(JSON.stringify({ a: 'b "c"\n\t' }))).toBe(true);
});
