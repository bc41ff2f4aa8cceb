import { UNSEEN } from './visible-text.ts';

/** A name as a shell takes it: what is a stranger's does nothing within these quotes, and what is pasted steers no terminal. */
export function shellWord(word: string): string {
  if (/^[\w/.][\w@%+=:,./-]*$/.test(word)) return word;
  if (word.search(UNSEEN) === -1) return `'${word.replaceAll("'", "'\\''")}'`;
  // As bash and zsh write it; other shells refuse it, and nothing is done.
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(UNSEEN, codeOf);
  return `$'${escaped}'`;
}

function codeOf(sign: string): string {
  const code = (sign.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

/** The names after a command, as they are typed: one that begins as a flag does is not taken for one. */
export function shellWords(...words: readonly string[]): string {
  const isOver = words.some((word) => word.startsWith('-')) ? ['--'] : [];
  return [...isOver, ...words.map(shellWord)].join(' ');
}
