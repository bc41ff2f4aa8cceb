import { expect, test } from 'vitest';
import { FileMemory } from '../../../../src/agent/builtins/files/file-memory.ts';

test('the file that was read longest ago is forgotten when there are too many', () => {
  const memory = new FileMemory();
  for (let n = 0; n < 5_000; n++) memory.remember(`/${n}`, 'a');
  memory.remember('/0', 'b');
  memory.remember('/5000', 'a');
  expect(memory.knows('/0', 'b')).toBe('current');
  expect(memory.knows('/1', 'a')).toBe('unread');
  expect(memory.knows('/2', 'b')).toBe('outdated');
  expect(memory.knows('/5000', 'a')).toBe('current');
});
