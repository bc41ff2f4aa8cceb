import { diff } from 'node:util';

/** The lines in which two observations differ, with context; empty if they are equal. */
export function difference(expected: unknown, actual: unknown): string[] {
  const entries = diff(lines(actual), lines(expected));
  const isNear = (index: number) =>
    entries.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(([operation]) => operation !== 0);
  return entries
    .filter((_, index) => isNear(index))
    .map(([operation, line]) => `${MARKS[operation]} ${line}`);
}

const CONTEXT = 3;
const MARKS = { '-1': '-', 0: ' ', 1: '+' };

function lines(value: unknown): string[] {
  return JSON.stringify(value, null, 2).split('\n');
}
