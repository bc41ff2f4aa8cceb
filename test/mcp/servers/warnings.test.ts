import { expect, test } from 'vitest';
import { Warnings } from '../../../src/mcp/servers/warnings.ts';

test('each fault is told once, and not more than a few hundred', () => {
  const told: string[] = [];
  const warnings = new Warnings((message) => void told.push(message));
  for (const message of ['a', 'b', 'a']) warnings.tell(message);
  expect(told).toEqual(['a', 'b']);
  for (let at = 0; at < 1_000; at++) warnings.tell(`fault ${at}`);
  expect(told).toHaveLength(201);
  expect(told.at(-1)).toBe('what it lists has more than 200 faults; the others are not told one by one');
});
