import { findHidden } from './hidden.ts';

/** The text for people's eyes, on one line: what is hidden stands there as its code points. */
export function shown(text: string): string {
  const parts = replaced(text, (hidden) => `⟨${codePoints(hidden).join(' ')}⟩`);
  return parts.replaceAll(/\s+/gu, ' ').trim();
}

/**
 * The text as a model is to read it: without what people cannot see. Removed, not spelt out: a message hidden in such
 * characters should not reach the model in any form. Emoji and words that need joiners stay as they are.
 */
export function visible(text: string): string {
  return replaced(text, () => '');
}

/** `U+200B`, each once, in the order in which they come. */
export function codePoints(text: string): string[] {
  const named = [...text].map(
    (char) => `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return [...new Set(named)];
}

function replaced(text: string, by: (hidden: string) => string): string {
  let from = 0;
  let made = '';
  for (const { at, text: hidden } of findHidden(text)) {
    made += text.slice(from, at) + by(hidden);
    from = at + hidden.length;
  }
  return from === 0 ? text : made + text.slice(from);
}
