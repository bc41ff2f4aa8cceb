/** Does the work for each word once, as long as it is held; equal results are one string in memory. */
export function remembered(make: (word: string) => string): (word: string) => string {
  const known = new Map<string, string>();
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const made = make(word);
    known.set(word, made);
    return made;
  };
}
