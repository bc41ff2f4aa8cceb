import {
  type AndOr,
  type Command,
  type CommandNode,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { literalStars, matchesCommand } from '../rule.ts';
import { EVALUATING_BUILTINS } from './shell-command.ts';

/** Whether one allow rule covers the whole command: its exact text, or a pattern for one plain command. */
export function allowsCommand(content: string, command: string): boolean {
  const text = command.trim();
  if (content === text || content === literalStars(text)) return true;
  if (!content.includes('*')) return false;
  const plain = plainCommands(command);
  return plain?.length === 1 && matchesCommand(content, (plain[0] as PlainCommand).text);
}

/** For each plain command of a command line, the first content that allows it; undefined if one command is not allowed. */
export function allowingContents(
  contents: readonly string[],
  command: string,
): readonly string[] | undefined {
  const plain = plainCommands(command) ?? [];
  const found = plain.map(({ text, changesShell }) => {
    const needsExact = changesShell && plain.length > 1;
    return contents.find(
      (content) =>
        content === literalStars(text) ||
        (!needsExact && (content === text || matchesCommand(content, text))),
    );
  });
  return found.length > 0 && found.every((content) => content !== undefined) ? found : undefined;
}

/** A simple command. */
export type PlainCommand = {
  /** The words as written, joined by single spaces. */
  readonly text: string;
  readonly words: readonly string[];
  /**
   * Whether the command may set variables or options of the shell, so that later commands run other programs:
   * `printf -v PATH . && ls` runs `./ls`.
   */
  readonly changesShell: boolean;
};

/**
 * The simple commands of a script that only consists of such commands, joined by `&&`, `||`, `;`, `|` and newlines. Words
 * may contain quotes, globs and `$name`; comments and redirections to `/dev/null` or between descriptors are left out. Any
 * other syntax gives undefined: an allow pattern must not match text whose meaning is not certain.
 */
export function plainCommands(source: string): readonly PlainCommand[] | undefined {
  if (UNCERTAIN_CHARACTERS.test(source)) return undefined;
  let script: ReturnType<typeof parse>;
  try {
    script = parse(source);
  } catch {
    return undefined;
  }
  if (script.errors) return undefined;
  const commands = script.commands.flatMap((statement): (Command | undefined)[] =>
    statement.background ? [undefined] : simpleCommands(statement.command),
  );
  const plain = commands.map((command) => command && plainCommand(command));
  if (!plain.every((command) => command !== undefined)) return undefined;
  return isFullyParsed(source, commands as Command[]) ? plain : undefined;
}

/** Control characters, which shells and terminals treat differently, and line continuations. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse.
const UNCERTAIN_CHARACTERS = /[\0-\x08\x0b-\x1f\x7f]|\\\n/;

function simpleCommands(node: CommandNode | AndOr | SyntaxNode): (Command | undefined)[] {
  if (node.type === 'Command') return [node];
  if (node.type === 'AndOr') return node.commands.flatMap(simpleCommands);
  if (node.type !== 'Pipeline' || node.prefixes.length > 0) return [undefined];
  return node.operators.every((operator) => operator === '|')
    ? node.commands.flatMap(simpleCommands)
    : [undefined];
}

function plainCommand(command: Command): PlainCommand | undefined {
  const { name, prefix, suffix } = command;
  if (!name || prefix.some((it) => it.type === 'Assignment' || !isHarmless(it))) return undefined;
  const words: string[] = [];
  for (const part of [name, ...suffix]) {
    if (part.type === 'Word') {
      if (!hasPlainParts(part)) return undefined;
      words.push(part.text);
    } else if (part.type === 'Assignment') {
      if (part.index || part.value.type !== 'Word' || !hasPlainParts(part.value)) return undefined;
      words.push(part.text);
    } else if (!isHarmless(part)) return undefined;
  }
  if (EVALUATING_BUILTINS.has(name.value) && suffix.some(mayEvaluate)) return undefined;
  return { text: words.join(' '), words, changesShell: changesShell(command) };
}

function changesShell({ name, args: [first] }: Command): boolean {
  if (name?.value === 'printf') {
    const { value = '', text = '' } = first?.type === 'Word' ? first : {};
    return (value.startsWith('-') && value !== '--') || /^"?(?:\$_|[*?[])/.test(text);
  }
  return STATE_BUILTINS.has(name?.value ?? '');
}

const STATE_BUILTINS = new Set(
  (
    '. alias builtin declare enable eval exec export getopts hash let local mapfile read readarray readonly ' +
    'set shopt source trap typeset unalias unset wait'
  ).split(' '),
);

function mayEvaluate(part: Command['suffix'][number]): boolean {
  return 'text' in part && part.text.includes('[') && /[$`]/.test(part.text);
}

function hasPlainParts({ parts = [] }: Word): boolean {
  return parts.every(isPlainPart);
}

function isPlainPart(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'SimpleExpansion':
      return true;
    case 'DoubleQuoted':
      return part.parts.every(isPlainPart);
    case 'Glob':
      return part.kind !== 'bracket' || part.parts.every(isPlainPart);
    case 'AnsiCQuoted':
    case 'LocaleString':
    case 'ParameterExpansion':
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return false;
  }
}

/** A redirection that neither reads nor writes a file: to or from `/dev/null`, or between descriptors. */
function isHarmless(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect' || redirect.descriptor?.type === 'FileDescriptorVariable') return false;
  const target = redirect.target?.text ?? '';
  if (target === '/dev/null') return redirect.operator !== '<>';
  return /^[<>]&$/.test(redirect.operator) && /^[012]$/.test(target);
}

/** Whether everything between the words and redirections of the commands is a blank, an operator or a comment. */
function isFullyParsed(source: string, commands: readonly Command[]): boolean {
  let at = 0;
  const skipTo = (end: number): boolean => {
    BETWEEN_WORDS.lastIndex = at;
    BETWEEN_WORDS.test(source);
    return BETWEEN_WORDS.lastIndex === end;
  };
  for (const { name, prefix, suffix } of commands) {
    for (const { pos, end } of [...prefix, ...(name ? [name] : []), ...suffix]) {
      if (!skipTo(pos)) return false;
      at = end;
    }
  }
  return skipTo(source.length);
}

const BETWEEN_WORDS = /(?:[ \t\n;|]|&&|(?<=^|[ \t\n;|&])#[^\n]*)*/y;
