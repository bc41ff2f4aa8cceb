/** A name as a shell takes it: what is a stranger's does nothing within these quotes, and what is pasted steers no terminal. */
export function shellWord(word: string): string {
  if (/^[\w/.][\w@%+=:,./-]*$/.test(word)) return word;
  if (!UNSEEN.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  // As bash and zsh write it; other shells refuse it, and nothing is done.
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(UNSEEN_ALL, codeOf);
  return `$'${escaped}'`;
}

/** Control characters, ends of lines, and what turns the direction of a text. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const UNSEEN_ALL = new RegExp(UNSEEN, 'gu');

function codeOf(sign: string): string {
  return `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** The names after a command, as they are typed: one that begins as a flag does is not taken for one. */
export function shellWords(...words: readonly string[]): string {
  const isOver = words.some((word) => word.startsWith('-')) ? ['--'] : [];
  return [...isOver, ...words.map(shellWord)].join(' ');
}
