import { existsSync, readFileSync } from 'node:fs';

export const TASKSET = '/usr/bin/taskset';

/** The processors a child can be bound to; none where the system cannot do that. */
export function boundableProcessors(): number[] {
  if (!existsSync(TASKSET)) return [];
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return allowed.split(',').flatMap(readRange);
}

/** `2-4` or `2`, as the kernel writes it. */
function readRange(range: string): number[] {
  const [first = Number.NaN, last = first] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
