import { describe, expect, test } from 'vitest';
import { displayWidth, truncateToWidth } from '../../../src/cli/terminal/display-width.ts';

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
