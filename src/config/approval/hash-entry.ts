import { createHash } from 'node:crypto';
import { isRecord } from '../../base/is-record.ts';

/**
 * What stands for content that was approved: the same for values that are the same, however they were written. Lists keep
 * their order, since that of arguments means something. Undefined for what is nested too deeply to be looked through.
 */
export function hashEntry(raw: unknown): string | undefined {
  try {
    return createHash('sha256')
      .update(JSON.stringify(ordered(raw)) ?? 'null')
      .digest('hex');
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isRecord(value)) return value;
  // As pairs: an object would move names that are numbers to its front, and hide a member called `__proto__`.
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return { members: names.sort().map((name) => [name, ordered(value[name])]) };
}
