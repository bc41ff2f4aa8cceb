import { matchesWildcard } from '../base/text/patterns.ts';

/** `git log:*` and `git log *` match the words themselves or with more after them. */
export function matchesCommand(content: string, command: string): boolean {
  return patternsOf(content).some((pattern) => matchesWildcard(pattern, command));
}

/** The wildcard patterns of a rule's content. */
export function patternsOf(content: string): string[] {
  if (!content.endsWith(':*') && !content.endsWith(' *')) return [content];
  const prefix = content.slice(0, -2);
  return [prefix, `${prefix} *`];
}

/** The text as a pattern that matches nothing but itself: `\*` is a star. */
export function literalStars(text: string): string {
  return text.replaceAll('*', '\\*');
}
