import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const FIXTURE = fileURLToPath(new URL('fixtures/slow-reader.ts', import.meta.url));

/** The result of many unread messages; heap figures are of a separate process, after garbage collection. */
async function flood(kind: string, count: number): Promise<Record<string, number>> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    FIXTURE,
    kind,
    String(count),
  ]);
  return JSON.parse(stdout);
}

const MAX_MB = 20;

test.each([
  ['own/sync', 200_000],
  ['own/paused', 50_000],
  ['foreign/sync', 200_000],
  ['far/flood', 50_000],
])('unread progress is bounded, and the last item arrives: %s', async (kind, count) => {
  const { grownMb, peakMb, progress, last, result } = await flood(kind, count);
  expect(grownMb).toBeLessThan(MAX_MB);
  expect(peakMb).toBeLessThan(MAX_MB);
  expect(progress).toBeGreaterThan(100);
  expect(progress).toBeLessThan(2_000);
  expect({ last, result }).toEqual({ last: count, result: 'finished'.length });
});

test.each(['own/log', 'own/notify'])('other unread notifications are bounded: %s', async (kind) => {
  const { grownMb, peakMb, result } = await flood(kind, 30_000);
  expect(grownMb).toBeLessThan(MAX_MB);
  expect(peakMb).toBeLessThan(MAX_MB);
  expect(result).toBe('finished'.length);
});

test('a slow reader slows down the model, and no message is lost', async () => {
  const { peakMb, streamedUnread, read, result } = await flood('model/deltas', 100_000);
  expect(peakMb).toBeLessThan(MAX_MB);
  expect(streamedUnread).toBeLessThan(2_000);
  expect(read).toBe(100_005);
  expect(result).toBe(100_000);
});
