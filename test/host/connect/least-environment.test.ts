import { expect, test } from 'vitest';
import { leastEnvironment } from '../../../src/host/connect/least-environment.ts';

test('a server inherits what programs need to run, and none of the secrets', () => {
  const base = { PATH: '/bin', HOME: '/home/me', LANG: 'C', AWS_SECRET_ACCESS_KEY: 'x', TERM: undefined };
  expect(leastEnvironment(base)).toEqual({ PATH: '/bin', HOME: '/home/me', LANG: 'C' });
});

test('the entry has the last word', () => {
  expect(leastEnvironment({ PATH: '/bin' }, { PATH: '/opt', KEY: 'k' })).toEqual({ PATH: '/opt', KEY: 'k' });
});
