import { compilePattern, type LinearPattern } from '../../../src/base/text/patterns.ts';

/** Compiles a regular expression as Grep does; the flag `g` means that matches may span lines. */
export function compiled({ source, global: multiline }: RegExp): {
  readonly pattern: LinearPattern;
  readonly multiline: boolean;
} {
  const pattern = compilePattern(source, { multiline });
  if (typeof pattern === 'string') throw new Error(pattern);
  return { pattern, multiline };
}
