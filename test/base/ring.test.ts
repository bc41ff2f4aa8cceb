import { expect, test } from 'vitest';
import { LineRing } from '../../src/base/ring.ts';

test('the last lines are kept, long ones cut', () => {
  const ring = new LineRing(2, 3);
  for (const line of ['one', 'two', 'three']) ring.push(line);
  expect(ring.lines).toEqual(['two', 'thr…']);
});
