/**
 * Whether the shell would run exactly one command and write nowhere else: no separator, pipe, redirection,
 * substitution or group outside quotes. What cannot be read for certain is not simple.
 */
export function isSimpleCommand(command: string): boolean {
  let quote = '';
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string;
    if (quote === "'") {
      if (char === "'") quote = '';
    } else if (char === '\\') {
      at++;
      if (at >= command.length || /[\n\r]/.test(command[at] as string)) return false;
    } else if (char === '`' || (char === '$' && /[({'"[]/.test(command[at + 1] ?? ''))) {
      return false;
    } else if (quote === '"') {
      if (char === '"') quote = '';
    } else if (char === '"' || char === "'") {
      quote = char;
    } else if (/[;&|<>(){}\n\r\0]/.test(char)) {
      return false;
    }
  }
  return quote === '';
}

/** The words of each command in a text, as the shell would hand them over: without quotes. Nothing is expanded. */
export function shellWords(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  for (const [token] of text.matchAll(TOKEN)) {
    if (/^\s/.test(token) && !/[\n\r]/.test(token)) endWord();
    else if (SEPARATOR.test(token)) {
      endWord();
      if (words.length > 0) commands.push(words);
      words = [];
    } else word = (word ?? '') + unquoted(token);
  }
  endWord();
  return words.length > 0 ? [...commands, words] : commands;
}

/** A quote that is never closed reaches to the end. */
const TOKEN =
  /\$?'[^']*(?:'|$)|\$?"(?:[^"\\]+|\\.)*(?:"|\\?$)|\\.|[\n\r;&|<>(){}`]|[^\S\n\r]+|[^\s"'\\;&|<>(){}`$]+|./gs;
const SEPARATOR = /^[\n\r;&|<>(){}`]$/;

function unquoted(token: string): string {
  const quote = /^\$?(["'])/.exec(token);
  if (!quote) return token.startsWith('\\') ? token.slice(1) : token;
  const inner = token.slice(quote[0].length).replace(quote[1] === '"' ? /"$/ : /'$/, '');
  return quote[1] === '"' ? inner.replace(/\\(["\\$`])/g, '$1') : inner;
}
