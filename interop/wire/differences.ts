import type { Recording } from './case.ts';

/** One line per place where two recordings differ; empty when they are the same byte for byte. */
export function differences(expected: Recording, actual: Recording): string[] {
  return [
    ...listDifferences('argv', expected.argv, actual.argv),
    ...listDifferences('execArgv', expected.execArgv, actual.execArgv),
    ...listDifferences('env', entries(expected.env), entries(actual.env)),
    ...listDifferences('stdin', expected.stdin, actual.stdin),
    ...listDifferences('order', expected.order, actual.order),
    ...listDifferences('spawned', [JSON.stringify(expected.spawned)], [JSON.stringify(actual.spawned)]),
    ...listDifferences('outcome', [JSON.stringify(expected.outcome)], [JSON.stringify(actual.outcome)]),
  ];
}

function entries(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([key, value]) => `${key}=${value}`);
}

function listDifferences(what: string, expected: readonly string[], actual: readonly string[]): string[] {
  const length = Math.max(expected.length, actual.length);
  const lines: string[] = [];
  for (let at = 0; at < length; at += 1) {
    if (expected[at] === actual[at]) continue;
    lines.push(`${what}[${at}] expected ${expected[at] ?? '(nothing)'}`);
    lines.push(`${what}[${at}] actual   ${actual[at] ?? '(nothing)'}`);
  }
  return lines;
}
