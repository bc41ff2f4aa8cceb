import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  shellArguments,
  shellQuote,
  sliceText,
  visibleJson,
  visibleText,
} from '../../../src/base/text/display-text.ts';

describe('visible text', () => {
  test.each([
    ['Größe 日本語 👩‍💻.json', 'Größe 日本語 👩‍💻.json'],
    ['a\u001b[31m\nb', 'a\\u001b[31m\\u000ab'],
    ['a\u202etxt.exe', 'a\\u202etxt.exe'],
    ['a\u009b31mb\u061c\u200b\ufeffc', 'a\\u009b31mb\\u061c\\u200b\\ufeffc'],
    ['tag \u{e0041}', 'tag \\udb40\\udc41'],
  ])('%j is shown as %s', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test('any text stays on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  test('JSON keeps its value and contains no invisible characters', () => {
    const odd = fc.constantFrom(
      '\u009b',
      '\u202e',
      '\u2066',
      '\u200d',
      '\u2028',
      '\u{e0001}',
      '\u061c',
      '\ufe0f',
      '\u001b',
    );
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.oneof(odd, fc.string()))).map(String);
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.jsonValue())), (value) => {
        const json = JSON.stringify(value);
        const shown = visibleJson(json);
        expect(JSON.parse(shown)).toEqual(JSON.parse(json));
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

describe('sliceText', () => {
  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['ab😀', 3, 'ab'],
    ['ab😀c', 4, 'ab😀'],
    ['', 0, ''],
  ])('%s to %i', (text, most, cut) => {
    expect(sliceText(text, most)).toBe(cut);
  });

  test('keeps text well-formed and cuts no more than needed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, most) => {
        const cut = sliceText(text, most);
        expect(cut.isWellFormed()).toBe(true);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, most) - 1);
      }),
    );
  });
});

describe('shellQuote', () => {
  test.each([
    ['github', 'github'],
    ['a b', "'a b'"],
    ["it's", "'it'\\''s'"],
    ['x; rm -rf ~', "'x; rm -rf ~'"],
    ['$(touch x)', "'$(touch x)'"],
    ['--all', "'--all'"],
    ['', "''"],
    ['end\u001b[201~', "$'end\\u001b[201~'"],
    ["a'\nb\\", "$'a\\'\\u000ab\\\\'"],
    ['a\u202eb', "$'a\\u202eb'"],
  ])('%j is quoted as %s', (word, typed) => {
    expect(shellQuote(word)).toBe(typed);
  });

  test('an argument that begins with a dash follows --', () => {
    expect(shellArguments('github', '--json')).toBe("-- github '--json'");
    expect(shellArguments('github', 'create_issue')).toBe('github create_issue');
  });

  test('a shell reads back any quoted word, and the quoted text contains no control characters', () => {
    const words = fc.array(
      fc.string({ unit: 'binary', maxLength: 20 }).filter((it) => !it.includes('\0') && it.isWellFormed()),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(words, (all) => {
        const typed = all.map(shellQuote).join(' ');
        expect(typed).not.toMatch(/\p{Cc}/u);
        const said = execFileSync('bash', ['--norc', '-c', `printf '%s\\0' ${typed}`], {
          encoding: 'utf8',
          env: { LC_ALL: 'C.UTF-8', PATH: process.env.PATH },
        });
        expect(said.split('\0').slice(0, -1)).toEqual(all);
      }),
      { numRuns: 50 },
    );
  });
});
