import { expect, test } from 'vitest';
import { acceptCommand } from '../../../src/pool/pinning/tool-change.ts';

test.each([
  ['github', 'create_issue', 'github create_issue'],
  ['my server', '検索', "'my server' '検索'"],
  ['s', '$(touch x)', "s '$(touch x)'"],
  ['s', "it's", "s 'it'\\''s'"],
  ['s', 'look\u001b[31m', 's'],
  ['s', '--json', "-- s '--json'"],
  ['s', 'zero\u200bwidth', 's'],
])('a shell takes %j %j as names and nothing else', (server, tool, words) => {
  expect(acceptCommand({ server, tool })).toBe(`toolplane tools accept ${words}`);
});
