import { existsSync, readFileSync } from 'node:fs';

export const TASKSET = '/usr/bin/taskset';

/** The processors that a child can be bound to; empty if the system does not support it. */
export function boundableProcessors(): number[] {
  if (!existsSync(TASKSET)) return [];
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return allowed.split(',').flatMap(readRange);
}

/** Parses a range in the format of the kernel: `2-4` or `2`. */
function readRange(range: string): number[] {
  const [first = Number.NaN, last = first] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
