/** A name as a shell takes it: what is a stranger's does nothing within these quotes. */
export function shellWord(word: string): string {
  return /^[\w/.][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
