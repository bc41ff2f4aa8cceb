import { matchesCommand, patternsOf } from '../rule.ts';
import { type Piece, type ShellCommand, type ShellWord, shellCommands } from './shell-command.ts';
import {
  ARGUMENT_JOINERS,
  ARGUMENT_READERS,
  baseName,
  commandStarts,
  GIT_OPTIONS_WITH_VALUE,
  optionValue,
  programName,
  RUNNERS,
  ranBySubcommand,
  readsInput,
  SCRIPT_READERS,
  scriptWords,
  skipOptions,
  takesAnyCommand,
  WRAPPERS,
  wrappedCommand,
} from './wrapped-command.ts';

/** Whether a deny or ask rule matches a command: certainly, possibly (with the reason for the doubt), or not at all. */
export type CommandMatch =
  | { readonly kind: 'yes' | 'no' }
  | { readonly kind: 'maybe'; readonly reason: string };

/**
 * Compares a deny or ask rule with everything the command may run: every command of pipelines, loops, substitutions
 * and here-documents, what wrappers such as `sudo`, `find -exec` and `bash -c` run, and git without its global options.
 */
export function matchRestriction(content: string, command: string): CommandMatch {
  const comparison = compared(command);
  let match = comparison.matches.get(content);
  if (!match) {
    match = compare(content, comparison);
    comparison.matches.set(content, match);
  }
  return match;
}

/** Why no rule can be checked against the command with certainty; undefined if there is no such reason. */
export function commandDoubt(command: string): string | undefined {
  return compared(command).analysis.doubts[0];
}

function compare(content: string, { analysis, budget }: Comparison): CommandMatch {
  const { texts, patterns, doubts } = analysis;
  if (texts.some((text) => matchesCommand(content, text))) return { kind: 'yes' };
  const possible = patterns.find(
    ({ pieces, name }) => mayNameProgram(content, name, budget) && commandsOverlap(content, pieces, budget),
  );
  const doubt = doubts[0] ?? (budget.left <= 0 ? TOO_LONG : possible?.reason);
  return doubt === undefined ? { kind: 'no' } : { kind: 'maybe', reason: doubt };
}

/** Whether the program of a rule may have this name; a rule with a directory or a wildcard in its first word always may. */
function mayNameProgram(content: string, name: readonly Piece[] | undefined, budget: Budget): boolean {
  const program = /^[^/*\s]+?(?=:\*$|\s|$)/.exec(content)?.[0];
  return name === undefined || program === undefined || overlaps(program, name, budget);
}

function commandsOverlap(content: string, pieces: readonly Piece[], budget: Budget): boolean {
  return patternsOf(content).some((pattern) => overlaps(pattern, pieces, budget));
}

/** What a rule is compared with: commands that are known in full (`texts`), commands that are known in part (`patterns`), and reasons why no rule can be checked (`doubts`). */
type Analysis = {
  readonly texts: readonly string[];
  readonly patterns: readonly PossibleText[];
  readonly doubts: readonly string[];
};

type PossibleText = {
  readonly pieces: readonly Piece[];
  readonly reason: string;
  /** The program, if its word ends with known text: `x` for `$HOME/bin/x`. The shell inserts no blank there. */
  readonly name: readonly Piece[] | undefined;
};

const COMPUTED = 'part of the command is only known when the shell runs the command';
const TOO_LONG = 'the command is too long to check';
const UNKNOWN_PROGRAM =
  'the program is only known when the shell runs the command, and may run its arguments';
const PIPED_SCRIPT = 'a shell reads its commands from a pipe';
const OPTIONS = 'the subcommand is ambiguous, because options before it may take values';

/** What is known about one command while all rules are compared with it in turn. */
type Comparison = {
  readonly command: string;
  readonly analysis: Analysis;
  readonly matches: Map<string, CommandMatch>;
  readonly budget: Budget;
};

/** How many more characters of patterns and texts may be compared with each other. */
type Budget = { left: number };

let last: Comparison | undefined;

function compared(command: string): Comparison {
  if (last?.command !== command) {
    const analysis = new Analyzer().run(command);
    last = { command, analysis, matches: new Map(), budget: { left: MAX_COMPARISONS } };
  }
  return last;
}

/** Maximum number of characters, and of texts, that rules are compared with; there may be thousands of rules. */
const MAX_LENGTH = 1_000_000;
const MAX_TEXTS = 2000;
const MAX_DEPTH = 10;
const MAX_GLOBAL_OPTIONS = 12;
const MAX_JOINED_TEXTS = 50;
const MAX_UNKNOWN_ARGUMENTS = 20;
const MAX_VARIABLES = 20;
/**
 * Maximum number of character comparisons for one command and all rules: about half a second, in which the event loop is
 * blocked. A repository may have many rules.
 */
const MAX_COMPARISONS = 20_000_000;

/** Collects what the rules are compared with; gives up with a doubt beyond its limits. */
class Analyzer {
  readonly #texts = new Set<string>();
  #length = 0;
  readonly #patterns: PossibleText[] = [];
  readonly #doubts = new Set<string>();
  #source = '';

  run(command: string): Analysis {
    this.#source = command;
    this.#script(command, 'inherited', 0, true);
    return {
      texts: [...joinedTexts(command), ...this.#texts],
      patterns: this.#patterns,
      doubts: [...this.#doubts],
    };
  }

  /** `isRun` is false for text that may also be data: such text is searched, but is never a reason for doubt. */
  #script(source: string, input: ShellCommand['input'], depth: number, isRun: boolean): void {
    if (this.#isTooDeep(depth)) return;
    const { commands, error } = shellCommands(source, input);
    if (error !== undefined && isRun) this.#doubt(`the command cannot be parsed (${error})`);
    if (depth > 0) this.#addJoined(source);
    for (const command of commands) this.#command(command.words, command.input, depth, isRun);
  }

  /** A command, and whatever its words make it run. */
  #command(all: readonly ShellWord[], input: ShellCommand['input'], depth: number, isRun: boolean): void {
    // The shell drops a word that consists of blanks, such as an unquoted $IFS.
    const start = all.findIndex((word) => word.value.trim() !== '' || hasGap(word));
    const words = all.slice(start);
    const [first] = words;
    if (start === -1 || !first || this.#isTooDeep(depth)) return;
    const name = programName(first.value.trim());
    this.#add(words);
    if (isRun) this.#pattern(words, COMPUTED);
    if (isRun && hasGap(first)) this.#unknownProgram(words, input);
    if (isRun && SCRIPT_READERS.has(name)) this.#scriptReader(name, words, input, depth);
    if (WRAPPERS.has(name)) this.#wrapper(name, words, input, depth, isRun);
    else if (name === 'git') this.#git(words, isRun);
    else if (isRun) this.#withoutOptions(words);
    if (isRun && RUNNERS.has(name)) this.#runner(name, words, input, depth);
  }

  /** `/bin/ba?h -c 'rm x'`: a program whose name is not fully known may run its arguments or its input. */
  #unknownProgram(words: readonly ShellWord[], input: ShellCommand['input']): void {
    const [first, ...args] = words as [ShellWord, ...ShellWord[]];
    const name = programPieces(first);
    const budget = { left: MAX_COMPARISONS };
    if (![...WRAPPERS, ...RUNNERS.keys()].some((it) => overlaps(it, name, budget))) return;
    const addAll = (them: readonly ShellWord[]) => {
      for (let at = 0; at < Math.min(them.length, MAX_UNKNOWN_ARGUMENTS); at++)
        this.#pattern(them.slice(at), UNKNOWN_PROGRAM);
    };
    addAll(args);
    const given = typeof input === 'object' ? [input] : [];
    for (const { pieces } of [...args.slice(0, MAX_UNKNOWN_ARGUMENTS), ...given]) {
      const text = pieces.map((piece) => piece ?? '$_').join('');
      if (SCRIPT_TEXT.test(text)) for (const command of shellCommands(text).commands) addAll(command.words);
    }
    if (input === 'piped' && readsInput('sh', words)) this.#doubt(PIPED_SCRIPT);
  }

  /** `uv run rm x` and `npx -c 'rm x'`. Other words of such commands are arguments. */
  #runner(name: string, words: readonly ShellWord[], input: ShellCommand['input'], depth: number): void {
    const { starts, scripts } = ranBySubcommand(name, words);
    for (const at of starts) this.#command(words.slice(at), input, depth + 1, true);
    for (const script of scripts) this.#script(script, input, depth + 1, false);
  }

  #wrapper(
    name: string,
    words: readonly ShellWord[],
    input: ShellCommand['input'],
    depth: number,
    isRun: boolean,
  ): void {
    const starts = isRun ? commandStarts(name, words) : [];
    for (const at of starts) {
      const inner = wrappedCommand(name, words, at);
      const innerInput = ARGUMENT_READERS.has(name) ? 'inherited' : input;
      if (
        ARGUMENT_JOINERS.has(name) &&
        inner.length > 1 &&
        inner.some(({ value }) => SCRIPT_TEXT.test(value))
      )
        this.#runText(joinedWords(inner), innerInput, depth);
      else this.#command(inner, innerInput, depth + 1, true);
    }
    if (ARGUMENT_READERS.has(name) && starts.some((at) => takesAnyCommand(name, words, at))) {
      this.#doubt(`${name} runs commands from its standard input`);
    }
    // Behind a wrapper every word may begin a command: which options take values is not known for every program.
    this.#add(words, true);
    const scripts = new Set(isRun ? scriptWords(name, words) : []);
    for (const word of words.slice(1)) {
      const isScript = scripts.has(word);
      if (isScript && hasGap(word)) this.#runText(word, input, depth);
      for (const text of [word.value, optionValue(word.value)]) {
        if (text === undefined) continue;
        // `bash -c bash` reads a script too.
        const isShell = isScript && SCRIPT_READERS.has(programName(text));
        if (SCRIPT_TEXT.test(text) || isShell)
          this.#script(text, input, depth + 1, isScript && !hasGap(word));
        else this.#pushCommand(text);
      }
    }
  }

  /** A shell, or a command that starts one: its script may come from standard input or from another command. */
  #scriptReader(
    name: string,
    words: readonly ShellWord[],
    input: ShellCommand['input'],
    depth: number,
  ): void {
    if (typeof input === 'object') {
      this.#runText(input, 'inherited', depth);
      // `exec < <(…)` in a script that a shell reads from its input also replaces the rest of the script.
      if (/\bexec\b.*<[(<&]/s.test(input.pieces.join('').replace(/["'\\]/g, ''))) this.#doubt(PIPED_SCRIPT);
    } else if (input === 'piped' && readsInput(name, words)) this.#doubt(PIPED_SCRIPT);
    if (words.some(({ text }) => text.startsWith('<('))) {
      this.#doubt('a shell reads its commands from a process substitution');
    }
  }

  /** Checks text that a shell runs as a script; parts that are substituted at run time could be any command. */
  #runText(
    { pieces, text }: Pick<ShellWord, 'pieces' | 'text'>,
    input: ShellCommand['input'],
    depth: number,
  ): void {
    if (pieces.includes(undefined) && !insertsPlainVariables(text, this.#source)) {
      this.#doubt('a shell runs a script that is only known at run time');
    }
    const script = pieces.map((piece) => piece ?? '$_').join('');
    // `su -c"$x"` and `--command="$x"` hold the script in the word of the option.
    this.#script(script.replace(/^(?:-\w|--[\w-]+=)/, ''), input, depth + 1, true);
  }

  /** `git -C . push` is `git push`; an alias given on the command line could be any command. */
  #git(words: readonly ShellWord[], isRun: boolean): void {
    const at = skipOptions(words, 1, GIT_OPTIONS_WITH_VALUE);
    if (at === 1 || at >= words.length) return;
    const rest = [words[0] as ShellWord, ...words.slice(at)];
    this.#add(rest);
    if (isRun) this.#pattern(rest, COMPUTED);
    const isAliased = words.slice(1, at).some(({ value }) => /^(?:-c|--config-env=)?alias\./.test(value));
    if (isAliased && isRun) this.#doubt('git runs an alias defined on its command line');
  }

  /** `kubectl -n prod delete` may be `kubectl delete`: which options take values is not known for other programs. */
  #withoutOptions(words: readonly ShellWord[]): void {
    const [first, ...args] = words as [ShellWord, ...ShellWord[]];
    let mayBeValue = false;
    for (const [index, word] of args.slice(0, MAX_GLOBAL_OPTIONS).entries()) {
      const isOption = /^[-+]./.test(word.value);
      // Unknown text behind an option is its value: `kubectl -n "$NS" get`.
      if (index > 0 && !isOption && !(mayBeValue && hasGap(word)))
        this.#pattern([first, ...args.slice(index)], OPTIONS);
      if (!isOption && !mayBeValue) return;
      mayBeValue = isOption;
    }
  }

  /** The words as written and as values; `everywhere` also from each later word on. */
  #add(words: readonly ShellWord[], everywhere = false): void {
    const values = words.map(({ value }) => value).filter((value) => value.trim() !== '');
    for (const parts of [words.map((word) => word.text), values]) {
      const joined = parts.join(' ');
      let at = 0;
      for (const [index, part] of parts.entries()) {
        const text = joined.slice(at);
        const value = index > 0 ? optionValue(text) : undefined;
        if (!this.#pushCommand(text) || (value !== undefined && !this.#pushCommand(value))) return;
        if (!everywhere) break;
        at += part.length + 1;
      }
    }
  }

  /** The script of a wrapper as a whole. Text that an argument has already added does not count twice. */
  #addJoined(script: string): void {
    for (const text of joinedTexts(script)) {
      if (!this.#texts.has(text) && !this.#push(text)) return;
    }
  }

  /** Adds a command with and without the directory of its program. */
  #pushCommand(text: string): boolean {
    const isAdded = this.#push(text);
    if (isAdded) this.#texts.add(baseName(text));
    return isAdded;
  }

  /** Whether there was room for one more text. */
  #push(text: string): boolean {
    this.#length += text.length;
    if (this.#length > MAX_LENGTH || this.#texts.size > MAX_TEXTS) {
      this.#doubt(TOO_LONG);
      return false;
    }
    this.#texts.add(text);
    return true;
  }

  #pattern(words: readonly ShellWord[], reason: string): void {
    if (reason === COMPUTED && !words.some(hasGap)) return;
    // The shell drops a word that consists of blanks, such as an unquoted $IFS.
    const [first, ...rest] = words.filter((word) => hasGap(word) || word.value.trim() !== '');
    if (!first) return;
    const tail = rest.flatMap((word) => [' ', ...word.pieces]);
    const start = first.pieces.findIndex((piece) => piece?.trim() !== '');
    const hasSlash = first.pieces.some((piece) => piece?.includes('/'));
    const last = programPieces(first);
    // The shell splits an unquoted value at blanks: `${x}y` may be a command with an argument.
    const isSplit = !hasSlash && last[0] === undefined && !first.text.startsWith('"');
    const name = last.at(-1)?.trim() && !isSplit ? last : undefined;
    this.#patterns.push({ pieces: [...first.pieces.slice(start), ...tail], reason, name });
    if (hasSlash) this.#patterns.push({ pieces: [...last, ...tail], reason, name });
  }

  #isTooDeep(depth: number): boolean {
    if (depth > MAX_DEPTH) this.#doubt('the command is nested too deeply to check');
    return depth > MAX_DEPTH;
  }

  #doubt(reason: string): void {
    this.#doubts.add(reason);
  }
}

/**
 * Whether everything the shell inserts into the text is a variable that the command does not set, or sets to a plain word:
 * `DIR=/srv; ssh host "cd $DIR && ls"`.
 */
function insertsPlainVariables(text: string, source: string): boolean {
  const names = new Set<string>();
  // `$?`, `$#`, `$!` and `$$` are numbers.
  const rest = text
    .replace(/\$[?#!$]/g, '')
    .replace(/\$(?:([A-Za-z]\w*)|\{([A-Za-z]\w*)\})/g, (_, bare?: string, braced?: string) => {
      names.add(bare ?? braced ?? '');
      return '';
    });
  if (/[$`]/.test(rest) || names.size > MAX_VARIABLES) return false;
  return [
    ...source.matchAll(
      /(?<before>\$\{?)?(?<name>[A-Za-z_]\w*)(?<value>=(?:\$[!?#$]|[\w./:@%,-]*)(?![^\s;&|]))?/g,
    ),
  ]
    .filter(({ groups }) => names.has(groups?.name ?? ''))
    .every(({ groups }) => groups?.before !== undefined || groups?.value !== undefined);
}

/** The script that `eval` and `ssh` make of their arguments. */
function joinedWords(words: readonly ShellWord[]): Pick<ShellWord, 'pieces' | 'text'> {
  return {
    text: words.map(({ text }) => text).join(' '),
    pieces: words.flatMap(({ pieces }, index) => (index > 0 ? [' ', ...pieces] : pieces)),
  };
}

/** The name of a program without its directory. A gap may hold slashes too, so the name follows the last known one. */
function programPieces({ pieces }: ShellWord): readonly Piece[] {
  const slash = pieces.findLastIndex((piece) => piece?.includes('/'));
  if (slash === -1) return pieces.slice(pieces.findIndex((piece) => piece?.trim() !== ''));
  return [baseName(pieces[slash] as string), ...pieces.slice(slash + 1)];
}

function hasGap({ pieces }: ShellWord): boolean {
  return pieces.includes(undefined);
}

/** Text that is more than one word of a command. */
const SCRIPT_TEXT = /[\s;&|<>(){}[*?`$"'\\]/;

/**
 * The whole script, also from where its first command begins behind assignments and wrappers: for rules that join
 * commands, such as `ls && rm x`. A wrapper or an assignment may be a line of its own.
 */
function joinedTexts(source: string): ReadonlySet<string> {
  const script = source.trim();
  const texts = new Set([script]);
  const operator = script.search(/[;&|<>(){}`]/);
  const end = operator === -1 ? Math.max(script.lastIndexOf('\n'), script.lastIndexOf('\r'), 0) : operator;
  let lineStart = 0;
  for (const line of script.slice(0, end).split(LINE_START)) {
    let isBehindWrapper = false;
    for (const { 0: word, index } of line.matchAll(/\S+/g)) {
      texts.add(script.slice(lineStart + index));
      isBehindWrapper ||= WRAPPERS.has(baseName(word.replace(/["'\\]/g, '')));
      if (!isBehindWrapper && !/^\w+\+?=/.test(word)) return texts;
      if (texts.size === MAX_JOINED_TEXTS) return texts;
    }
    if (/["']/.test(line.replace(QUOTED, ''))) return texts;
    lineStart += line.length;
  }
  return texts;
}

const LINE_START = /(?<=(?<!\\)[\n\r])/;
const QUOTED = /\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs;

/** Whether a pattern with `*` and a text with gaps have a text in common; true if the budget is used up. */
function overlaps(pattern: string, pieces: readonly Piece[], budget: Budget): boolean {
  const left = pattern
    .split(/(?<!\\)\*/)
    .flatMap((literal, index) => [...(index > 0 ? [undefined] : []), ...literal.replaceAll('\\*', '*')]);
  const right = pieces.flatMap((piece) => (piece === undefined ? [undefined] : [...piece]));
  if (budget.left <= 0) return true;
  // reachable[j]: the pattern so far and the first j elements of the text have a text in common.
  let reachable = [true];
  for (let j = 0; j < right.length; j++) reachable.push(reachable[j] === true && right[j] === undefined);
  for (const element of left) {
    budget.left -= right.length + 1;
    if (budget.left <= 0) return true;
    if (!reachable.includes(true)) return false;
    const next = [element === undefined && reachable[0] === true];
    for (const [j, other] of right.entries()) {
      const both =
        reachable[j] === true && (element === other || element === undefined || other === undefined);
      const isLonger = element === undefined && (next[j] === true || reachable[j + 1] === true);
      const isGap = other === undefined && (next[j] === true || reachable[j + 1] === true);
      next.push(both || isLonger || isGap);
    }
    reachable = next;
  }
  return reachable[right.length] === true;
}
