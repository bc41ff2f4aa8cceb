import { eachHidden } from './hidden.ts';

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
  return [...new Set(text)].map(
    (char) => `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`,
  );
}

/** `by` is given what stands together and is of one kind. */
function replaced(text: string, by: (hidden: string) => string): string {
  const made: string[] = [];
  let [from, end, last] = [0, 0, ''];
  const close = () => {
    if (end > from) made.push(by(text.slice(from, end)));
  };
  eachHidden(text, (kind, at, until) => {
    if (kind !== last || at !== end) {
      close();
      made.push(text.slice(end, at));
      from = at;
    }
    [end, last] = [until, kind];
    return 'on';
  });
  close();
  return end === 0 ? text : made.join('') + text.slice(end);
}
