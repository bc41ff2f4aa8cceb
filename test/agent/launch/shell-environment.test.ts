import { expect, test } from 'vitest';
import { shellEnvironment } from '../../../src/agent/launch/shell-environment.ts';

test('secrets stay behind, whatever they are for, unless they are named', () => {
  const harmless = { PATH: '/bin', HOME: '/h', LANG: 'C', NODE_ENV: 'test', KEYBOARD: 'us', EDITOR: 'vi' };
  const secret = {
    ANTHROPIC_API_KEY: 'a',
    ANTHROPIC_AUTH_TOKEN: 'b',
    ANTHROPIC_CUSTOM_HEADERS: 'c',
    OPENAI_API_KEY: 'd',
    AWS_SECRET_ACCESS_KEY: 'e',
    GITHUB_TOKEN: 'f',
    DB_PASSWORD: 'g',
  };
  expect(shellEnvironment({ ...harmless, ...secret })).toEqual(harmless);
  const TOOLPLANE_PASS_ENV = 'GITHUB_TOKEN, DB_PASSWORD';
  expect(shellEnvironment({ ...harmless, ...secret, TOOLPLANE_PASS_ENV })).toEqual({
    ...harmless,
    TOOLPLANE_PASS_ENV,
    GITHUB_TOKEN: 'f',
    DB_PASSWORD: 'g',
  });
});
