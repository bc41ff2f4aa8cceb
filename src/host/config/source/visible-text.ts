/** A name or path as it can be shown: it neither breaks a line, nor steers a terminal, nor turns the direction of a text. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (it) => `\\u${(it.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
