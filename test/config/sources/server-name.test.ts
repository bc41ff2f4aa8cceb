import { expect, test } from 'vitest';
import { nameFault } from '../../../src/config/sources/server-name.ts';

test.each(['github', 'a b', 'Größe', '日本語', 'my.server/2', 'x'.repeat(200), 'constructor', '👩‍💻'])(
  'a server may be called %s',
  (name) => {
    expect(nameFault(name)).toBeUndefined();
  },
);

test.each<[string, string]>([
  ['', 'not empty'],
  ['  ', 'not empty'],
  ['x'.repeat(201), 'at most 200'],
  ['a\nb', 'control'],
  ['a\u0000', 'control'],
  ['a\u2028b', 'control'],
  ['a\u202eb', 'control'],
  ['\ud800', 'control'],
  ['--trust-repository', 'does not begin with "-"'],
  ['-', 'does not begin with "-"'],
  ['__proto__', 'JavaScript'],
])('%j is no name: %s', (name, fault) => {
  expect(nameFault(name)).toContain(fault);
});
