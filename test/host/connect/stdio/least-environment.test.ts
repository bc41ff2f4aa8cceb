import { expect, test } from 'vitest';
import { leastEnvironment } from '../../../../src/host/connect/stdio/least-environment.ts';

test('a server inherits what programs need to run, and none of the secrets', () => {
  const needed = {
    PATH: '/bin',
    HOME: '/home/me',
    LANG: 'C',
    LC_ALL: 'C.UTF-8',
    LOGNAME: 'me',
    SHELL: '/bin/sh',
    TMPDIR: '/var/tmp',
    TZ: 'UTC',
    USER: 'me',
  };
  const others = { AWS_SECRET_ACCESS_KEY: 'x', ANTHROPIC_API_KEY: 'x', NODE_OPTIONS: 'x', path: 'x' };
  expect(leastEnvironment({ ...needed, ...others, TERM: undefined })).toEqual(needed);
});

test('the entry has the last word', () => {
  expect(leastEnvironment({ PATH: '/bin' }, { PATH: '/opt', KEY: 'k' })).toEqual({ PATH: '/opt', KEY: 'k' });
});

test('functions that a shell exported are not passed on', () => {
  expect(leastEnvironment({ TERM: '() { :; }; echo bad', HOME: '/' })).toEqual({ HOME: '/' });
});

test('on Windows names are the same in any case', () => {
  const base = {
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
    'ProgramFiles(x86)': 'C:\\P',
    SECRET: 'x',
    LC_ALL: 'C',
  };
  expect(leastEnvironment(base, { KEY: 'k' }, 'win32')).toEqual({
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
    'ProgramFiles(x86)': 'C:\\P',
    KEY: 'k',
  });
  expect(leastEnvironment(base, { PATH: 'D:\\' }, 'win32')).toMatchObject({ PATH: 'D:\\' });
  expect(leastEnvironment(base, { PATH: 'D:\\' }, 'win32')).not.toHaveProperty('Path');
});
