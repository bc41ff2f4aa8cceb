import type { Argument, Command, Option } from 'commander';
import { SCOPE_NAMES } from '../../flags/flag-values.ts';
import { TRANSPORTS } from '../../mcp/given-entry.ts';

/** One completion. */
export type CompletionItem = { readonly word: string; readonly description: string };

/** Completions of a line: fixed items, and a kind of value. */
type Completion = {
  readonly items: readonly CompletionItem[];
  readonly value?: Kind;
  /** The prefix of each value. */
  readonly before?: string;
  /** The typed text that completions must start with. */
  readonly begun: string;
};

/** The command that flags without a command belong to. */
const DEFAULT_COMMAND = 'chat';

/** Completes the last of the typed words. */
export function completeLine(program: Command, typed: readonly string[]): Completion {
  const given = typed.slice(0, -1);
  const current = typed.at(-1) ?? '';
  const place = walk(program, given);
  if (place.awaits) {
    // bash splits --flag=value into three words.
    return { items: [], value: kindOfOption(place.awaits), begun: current === '=' ? '' : current };
  }
  if (place.isOver || !current.startsWith('-')) {
    const commands = place.at === 0 && !place.isOver ? commandsOf(place.command) : [];
    const value = kindOfArgument(place.path, place.at, place.command.registeredArguments);
    return { items: commands, value, begun: current };
  }
  const flag = /^(--[^=]+)=/.exec(current)?.[1];
  if (flag === undefined) return { items: flagsOf(place.command, program), begun: current };
  const option = optionOf(place.command, flag);
  return { items: [], ...(option && { value: kindOfOption(option), before: `${flag}=` }), begun: current };
}

type Place = {
  readonly command: Command;
  /** The names of the command and its parents, such as `mcp get`. */
  readonly path: string;
  /** The number of arguments so far. */
  readonly at: number;
  /** After `--` nothing is a flag. */
  readonly isOver: boolean;
  /** The flag whose value comes next. */
  readonly awaits?: Option;
};

function walk(program: Command, given: readonly string[]): Place {
  let command = program;
  const path: string[] = [];
  let at = 0;
  let isOver = false;
  let awaits: Option | undefined;
  for (const word of given) {
    if (awaits && word !== '=') {
      awaits = undefined;
    } else if (awaits) {
      // The value of --flag=value comes with the next word.
    } else if (isOver) {
      at++;
    } else if (word === '--') {
      isOver = true;
    } else if (word.startsWith('-') && word !== '-') {
      const option = optionOf(command, word);
      if (option && (option.required || option.optional)) awaits = option;
    } else {
      const sub = at === 0 ? command.commands.find((it) => isCalled(it, word)) : undefined;
      if (sub) {
        command = sub;
        path.push(sub.name());
      } else at++;
    }
  }
  return { command, path: path.join(' '), at, isOver, ...(awaits && { awaits }) };
}

function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

/** Finds an option of the command or, without a command, of `chat`. */
function optionOf(command: Command, word: string): Option | undefined {
  const fallback =
    command.parent === null ? command.commands.find((it) => it.name() === DEFAULT_COMMAND) : undefined;
  return [...command.options, ...(fallback?.options ?? [])].find(
    (it) => it.long === word || it.short === word,
  );
}

function flagsOf(command: Command, program: Command): CompletionItem[] {
  const fallback =
    command === program ? program.commands.find((it) => it.name() === DEFAULT_COMMAND) : undefined;
  const all = [command, ...(fallback ? [fallback] : [])].flatMap((it) => it.createHelp().visibleOptions(it));
  const items = all.flatMap(({ long, short, description }) => {
    const word = long ?? short;
    return word === undefined ? [] : [{ word, description }];
  });
  return [...new Map(items.map((it) => [it.word, it])).values()];
}

function commandsOf(command: Command): CompletionItem[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((it) => ({ word: it.name(), description: it.description() }));
}

/** The kind of value at one place: fixed words, or names that are looked up. */
export type Kind =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'servers' | 'secrets' | 'sources' | 'files' | 'directories' | 'nothing' };

/** The kind of a flag's value, by its choices, its name or its placeholder. */
function kindOfOption(option: Option): Kind {
  if (option.argChoices) return oneOfWords(option.argChoices);
  const long = option.long ?? '';
  if (Object.hasOwn(FLAGS, long)) return FLAGS[long] as Kind;
  return byPlaceholder(/[<[]([^>\]]*)/.exec(option.flags)?.[1] ?? '');
}

/** The kind of an argument of a command; `path` is such as `mcp get`. */
function kindOfArgument(path: string, at: number, declared: readonly Argument[]): Kind {
  const argument = declared[at] ?? (declared.at(-1)?.variadic ? declared.at(-1) : undefined);
  if (argument?.argChoices) return oneOfWords(argument.argChoices);
  const own = Object.hasOwn(ARGUMENTS, path) ? ARGUMENTS[path] : undefined;
  if (own) return own[Math.min(at, own.length - 1)] ?? NOTHING;
  return argument ? byPlaceholder(argument.name()) : NOTHING;
}

const oneOfWords = (all: readonly string[]): Kind => ({ kind: 'words', words: all });
const NOTHING: Kind = { kind: 'nothing' };
const SERVERS: Kind = { kind: 'servers' };
const SECRETS: Kind = { kind: 'secrets' };

const FLAGS: Readonly<Record<string, Kind>> = {
  '--scope': oneOfWords(SCOPE_NAMES),
  '--transport': oneOfWords(Object.keys(TRANSPORTS)),
  '--setting-sources': oneOfWords(SCOPE_NAMES),
  '--server': SERVERS,
  '--tools': NOTHING,
};

/** Kinds of arguments that do not follow from placeholders; the last kind applies to all further arguments. */
const ARGUMENTS: Readonly<Record<string, readonly Kind[]>> = {
  call: [SERVERS, NOTHING],
  completion: [oneOfWords(['bash', 'zsh', 'fish']), NOTHING],
  'explain server': [SERVERS, NOTHING],
  'explain timeout': [SERVERS, NOTHING],
  'explain tool': [SERVERS, NOTHING],
  'mcp add': [NOTHING, { kind: 'files' }],
  'mcp approve': [SERVERS],
  'mcp doctor': [SERVERS],
  'mcp get': [SERVERS, NOTHING],
  'mcp import': [{ kind: 'sources' }],
  'mcp login': [SERVERS, NOTHING],
  'mcp logout': [SERVERS, NOTHING],
  'mcp reject': [SERVERS],
  'mcp remove': [SERVERS, NOTHING],
  prompts: [oneOfWords(['get']), SERVERS, NOTHING],
  resources: [oneOfWords(['read']), SERVERS, NOTHING],
  secret: [oneOfWords(['list', 'set', 'remove']), SECRETS, NOTHING],
  tools: [oneOfWords(['accept']), SERVERS, NOTHING],
};

function byPlaceholder(placeholder: string): Kind {
  if (/^(file|path|module|key\.pem)/.test(placeholder)) return { kind: 'files' };
  if (/^(directory|dir)/.test(placeholder)) return { kind: 'directories' };
  if (placeholder === 'server') return SERVERS;
  return NOTHING;
}
