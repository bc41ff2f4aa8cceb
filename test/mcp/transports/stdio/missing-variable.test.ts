import { describe, expect, test } from 'vitest';
import {
  missingVariable,
  missingVariableAdvice,
} from '../../../../src/mcp/transports/stdio/missing-variable.ts';

describe('a server that names the variable it misses', () => {
  test.each([
    'WEATHER_API_KEY is not set',
    'Error: WEATHER_API_KEY is required',
    "KeyError: 'WEATHER_API_KEY'",
    'Missing required environment variable: WEATHER_API_KEY',
    'Please set the WEATHER_API_KEY environment variable',
    'Error: environment variable "WEATHER_API_KEY" not found',
    '[error] env WEATHER_API_KEY must be defined',
    'Environment variable `WEATHER_API_KEY` is missing. See https://example.com',
    'ValueError: No WEATHER_API_KEY provided',
    'panic: WEATHER_API_KEY undefined',
    'You need to export WEATHER_API_KEY=<your key> first',
    '  "path": [ "WEATHER_API_KEY" ], "message": "Required"',
    'process.env.WEATHER_API_KEY is empty',
    '\u001b[31mWEATHER_API_KEY\u001b[0m not provided',
  ])('%s', (line) => {
    const lines = [
      'starting',
      line,
      '    at Object.<anonymous> (/x/server.js:3:7)',
      'Node.js v22',
      '(exited with code 1)',
    ];
    const host = { WEATHER_API_KEY: 'k' };
    expect(missingVariable(lines, { given: {}, host })).toEqual({
      name: 'WEATHER_API_KEY',
      isWithheld: true,
    });
    expect(missingVariable(lines, { given: {}, host: {} })).toEqual({
      name: 'WEATHER_API_KEY',
      isWithheld: false,
    });
    expect(missingVariable(lines, { given: host, host })).toBeUndefined();
  });

  test('a name without an underscore counts where variables are spoken of', () => {
    const none = { given: {}, host: {} };
    expect(missingVariable(['the environment variable TOKEN is missing'], none)?.name).toBe('TOKEN');
    expect(missingVariable(['invalid JSON is required here'], none)).toBeUndefined();
  });

  test('a variable that the host has and the server mentions is the one', () => {
    const host = { HUB_HOST: 'x', OTHER_KEY: 'y' };
    expect(missingVariable(['cannot connect, HUB_HOST?'], { given: {}, host })?.name).toBe('HUB_HOST');
  });

  test.each([
    [[]],
    [['Error: listen EADDRINUSE: address already in use']],
    [['Error [ERR_MODULE_NOT_FOUND]: Cannot find package x imported from /y']],
    [["code: 'MODULE_NOT_FOUND', requireStack: []"]],
    [['SyntaxError: Unexpected token']],
    [['npm error code E404', 'npm error 404 Not Found']],
    [['A'.repeat(100_000)]],
  ])('%j names none', (lines) => {
    expect(missingVariable(lines, { given: {}, host: { PATH: '/bin' } })).toBeUndefined();
  });
});

test('the advice is what has to be added, as it is typed', () => {
  expect(missingVariableAdvice({ name: 'A_KEY', isWithheld: true })).toBe(
    'A_KEY is set in your environment, but servers get only a limited environment; pass it on with -e A_KEY=\'${A_KEY}\', or "inheritEnv": ["A_KEY"] in its entry',
  );
  expect(missingVariableAdvice({ name: 'A_KEY', isWithheld: false })).toBe(
    'A_KEY is not set; set it with -e A_KEY=…, or "env": { "A_KEY": "…" } in its entry',
  );
});
