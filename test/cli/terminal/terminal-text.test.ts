import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  displayWidth,
  sanitize,
  sanitizeLine,
  truncateToWidth,
} from '../../../src/cli/terminal/terminal-text.ts';

describe('sanitize', () => {
  test.each([
    ['colours', '\u001b[31mred\u001b[0m', '␛[31mred␛[0m'],
    ['a window title', '\u001b]0;owned\u0007', '␛]0;owned␇'],
    ['the clipboard', '\u001b]52;c;cm0gLXJm\u0007', '␛]52;c;cm0gLXJm␇'],
    ['a link over another text', '\u001b]8;;http://evil\u001b\\ok', '␛]8;;http://evil␛\\ok'],
    ['one-character CSI and OSC', '\u009b2J\u009d0;x\u009c', '<U+009B>2J<U+009D>0;x<U+009C>'],
    ['a line that is written over', 'rm -rf /\rls', 'rm -rf /␍ls'],
    ['characters that are taken back', 'safe\b\b\b\bevil\u007f', 'safe␈␈␈␈evil␡'],
    ['text that runs the other way', 'a\u202etxt.exe\u2066b', 'a<U+202E>txt.exe<U+2066>b'],
    ['what cannot be seen', 'mcp__\u200bdocs\u2060\ufeff', 'mcp__<U+200B>docs<U+2060><U+FEFF>'],
    ['tag characters', 'x\u{e0041}', 'x<U+E0041>'],
    ['half a surrogate pair', 'x\ud83d', 'x\ufffd'],
    ['a NUL and a shift out', '\u0000\u000e', '␀␎'],
  ])('%s is replaced by visible characters', (_, hostile, harmless) => {
    expect(sanitize(hostile)).toBe(harmless);
  });

  test('keeps ordinary text: newlines, tabs, scripts, composed emoji', () => {
    const text = 'one\n\ttwo — Grüße, 漢字, עברית, 👩‍👩‍👧, é';
    expect(sanitize(text)).toBe(text);
    expect(sanitize('dos\r\nlines\r\n')).toBe('dos\nlines\n');
  });

  test('no control character passes, in whatever chunks it arrives', () => {
    const text = fc.array(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u001b', '[', '2J', '\u009b', '\r', '\u0007')),
    );
    fc.assert(
      fc.property(text, (pieces) => {
        const shown = pieces.map(sanitize).join('');
        expect(shown).not.toMatch(/(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  test('sanitizeLine joins text to one line', () => {
    expect(sanitizeLine('  a\n\tb\r\n  c\u2028d\u001b[A ')).toBe('a b c d␛[A');
  });
});

describe('width', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['漢字', 4],
    ['한글', 4],
    ['👩‍👩‍👧', 2],
    ['❤️', 2],
    ['e\u0301', 1],
    ['…●✓', 3],
  ])('%j takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢字漢', 4, '漢…'],
    ['漢字漢', 5, '漢字…'],
    ['👩‍👩‍👧x👩‍👩‍👧', 4, '👩‍👩‍👧x…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
  ])('%j truncated to %i columns is %j', (text, width, cut) => {
    expect(truncateToWidth(text, width)).toBe(cut);
    expect(displayWidth(cut)).toBeLessThanOrEqual(width);
  });
});
