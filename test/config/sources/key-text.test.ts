import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyText } from '../../../src/config/sources/key-text.ts';

test.each<[readonly (string | number)[], string]>([
  [['mcpServers', 'github', 'args'], 'mcpServers.github.args'],
  [['connectors', 0, 'url'], 'connectors[0].url'],
  [['mcpServers', 'a.b', 'url'], 'mcpServers["a.b"].url'],
  [['mcpServers', ''], 'mcpServers[""]'],
  [['mcpServers', 'a\nb\u202e'], 'mcpServers["a\\nb\\u202e"]'],
  [['bare'], 'bare'],
  [['x', 'y'.repeat(300)], `x["${'y'.repeat(80)}…"]`],
])('%j is written %s', (way, text) => {
  expect(keyText(way)).toBe(text);
});

test('whatever a name is, it stays on one line and shows what it is', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (way) => {
      expect(keyText(way)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});
