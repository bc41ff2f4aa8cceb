/** The words of a command line as a shell would read them: quotes and backslashes, and nothing else a shell does. */
export function splitWords(line: string): string[] | { readonly fault: string } {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  let opened = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    const next = line[at + 1];
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (char === '\\' && quote === '"' && (next === '"' || next === '\\'))
        word += line[++at] as string;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      opened = at + 1;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === '\\' && next !== undefined && /[\s"'\\]/.test(next)) {
      // Any other backslash is one of a path of Windows.
      word = (word ?? '') + next;
      at++;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) return { fault: `the ${quote} at character ${opened} is not closed` };
  return word === undefined ? words : [...words, word];
}
