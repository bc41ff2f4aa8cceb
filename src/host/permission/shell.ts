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

/**
 * Everything in a command that might run as a command of its own, generously: quotes are looked through, and what
 * wraps a command (`sudo`, `env A=1`, `bash -c`, a path) is also taken off. For refusing, never for allowing.
 */
export function commandParts(command: string): string[] {
  const joined = command.replace(/\\\r?\n/g, '').replace(/\$IFS\b|\$\{IFS\}/g, ' ');
  const bare = joined.replace(/\d*[<>]+[&|]?\s*[^\s;&|<>(){}`]+/g, ' ');
  const pieces = [joined, bare].flatMap((text) => text.split(/[;&|<>(){}\n\r`]/));
  return [command, ...new Set(pieces.flatMap((piece) => unwrapped(piece)))];
}

function unwrapped(piece: string): string[] {
  const words = piece
    .replace(/["'\\]/g, '')
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = [piece.trim()];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const name = word.slice(word.lastIndexOf('/') + 1);
    const rest = words.slice(at + 1);
    found.push([word, ...rest].join(' '), [name, ...rest].join(' '));
    if (!WRAPPERS.has(name) && !/^(?:-.*|\w+\+?=.*|\d+[smhd]?|[$!])$/.test(word)) break;
  }
  return found;
}

const WRAPPERS = new Set(
  'sudo doas env command builtin exec eval time nohup nice timeout xargs stdbuf setsid bash sh zsh dash ksh if then elif else do while until'.split(
    ' ',
  ),
);
