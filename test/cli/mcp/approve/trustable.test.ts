import { expect, test } from 'vitest';
import { trustable } from '../../../../src/cli/mcp/approve/trustable.ts';

const at = (root: string | undefined, userHome = '/home/me') =>
  trustable({ ...(root !== undefined && { root }), world: { cwd: '/home/me/p/a', userHome } });

test('a repository may be trusted', () => {
  expect(at('/home/me/p')).toEqual({ directory: '/home/me/p' });
});

test.each<[string, string | undefined, RegExp]>([
  ['no repository', undefined, /is in no repository/],
  ['a home that is one', '/home/me', /holds your home and all projects in it/],
  ['what holds the home', '/', /holds your home/],
])('%s may not: too much would count with it', (_, root, fault) => {
  expect(at(root)).toEqual({ fault: expect.stringMatching(fault) });
});
