/** The name of the variable that a word such as `KEY=value` sets; undefined if it sets none. */
export function variableName(word: string): string | undefined {
  return /^([A-Za-z_]\w*)=/.exec(word)?.[1];
}

/**
 * The words of a command line with an `-e` before each variable: others take several after one, as `-e A=1 B=2`. Only
 * words that directly follow one are taken for such, and none after `--`, where the command has its own.
 */
export function repeatVariables(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  const said: string[] = [];
  // What the next word may be: the value of the flag, or one more variable.
  let next: 'value' | 'more' | 'other' = 'other';
  for (const word of own) {
    if (next === 'value') next = 'more';
    else if (word === '-e' || word === '--env') next = 'value';
    else if (/^(-e|--env=)./.test(word)) next = 'more';
    else if (next === 'more' && variableName(word) !== undefined) said.push('-e');
    else next = 'other';
    said.push(word);
  }
  return [...said, ...words.slice(own.length)];
}
