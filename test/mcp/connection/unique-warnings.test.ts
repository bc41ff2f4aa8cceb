import { expect, test } from 'vitest';
import { UniqueWarnings } from '../../../src/mcp/connection/unique-warnings.ts';

test('each warning is reported once, up to a limit', () => {
  const reported: string[] = [];
  const warnings = new UniqueWarnings((message) => void reported.push(message));
  for (const message of ['a', 'b', 'a']) warnings.report(message);
  expect(reported).toEqual(['a', 'b']);
  for (let at = 0; at < 1_000; at++) warnings.report(`fault ${at}`);
  expect(reported).toHaveLength(201);
  expect(reported.at(-1)).toBe('its lists have more than 200 problems; further ones are not reported');
});
