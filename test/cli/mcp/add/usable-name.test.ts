import { expect, test } from 'vitest';
import { faultOfName } from '../../../../src/cli/mcp/add/usable-name.ts';

test.each(['github', 'my server', 'a.b/c', '検索', 'Ünï', 'a_b-c', '1'])('%j can be used', (name) => {
  expect(faultOfName(name)).toBeUndefined();
});

test.each<[string, RegExp]>([
  ['', /not empty/],
  ['  ', /not empty/],
  ['__proto__', /JavaScript/],
  ['a\u001b[31m', /control characters/],
  ['a\nb', /control characters/],
  [' a', /blank/],
  ['-x', /does not begin with "-"; flags come before --/],
  ['KEY=hunter2', /^"KEY=…" is no name; variables come after -e/],
  ['https://a.test/mcp', /the name comes first/],
  ['x'.repeat(201), /at most/],
])('%j cannot', (name, fault) => {
  expect(faultOfName(name)).toMatch(fault);
  expect(faultOfName(name)).not.toContain('hunter2');
});
