import { compilePattern, type LinearPattern } from '../../../src/base/text/patterns.ts';

/** A literal as Grep would use it; the flag `g` says that matches may span lines. */
export function compiled({ source, global: multiline }: RegExp): {
  readonly pattern: LinearPattern;
  readonly multiline: boolean;
} {
  const pattern = compilePattern(source, { multiline });
  if (typeof pattern === 'string') throw new Error(pattern);
  return { pattern, multiline };
}
