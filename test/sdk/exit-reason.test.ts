import { expect, test } from 'vitest';
import { ExitFault } from '../../src/control/process-link.ts';
import { SdkError } from '../../src/protocol/sdk-error.ts';
import { explainExit } from '../../src/sdk/exit-reason.ts';

const exit = new ExitFault(1, null, ['last words']);
const failed = { type: 'result', is_error: true, subtype: 'error_during_execution' };

test.each<[string, object, string]>([
  ['its errors', { ...failed, errors: ['one', 'two'], result: 'r' }, 'one; two'],
  ['its errors, blank and odd ones left out', { ...failed, errors: ['', ' ', null, 7, 'two'] }, 'two'],
  ['its text', { ...failed, errors: [], result: 'the text' }, 'the text'],
  ['its kind', { ...failed, errors: 'x', result: '' }, 'error_during_execution'],
])('an exit after a failed result is told by %s, not by its code', (_, result, said) => {
  const told = explainExit(exit, result as Record<string, unknown>) as SdkError;
  expect(told).toBeInstanceOf(SdkError);
  expect({ code: told.code, message: told.message, cause: told.cause }).toEqual({
    code: 'process-exited',
    message: `Claude Code returned an error result: ${said}`,
    cause: exit,
  });
});

test.each<[string, Record<string, unknown> | undefined]>([
  ['no result', undefined],
  ['a good result', { type: 'result', is_error: false, result: 'fine' }],
])('an exit after %s keeps its own words', (_, result) => {
  expect(explainExit(exit, result)).toBe(exit);
});

test('what is no exit keeps its type', () => {
  const cause = new TypeError('x');
  expect(explainExit(cause, failed)).toBe(cause);
});
