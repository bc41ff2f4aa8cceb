import {
  type Command,
  forEachChild,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';

/** Literal text, or `undefined` where the shell inserts text that is only known when the command runs. */
export type Piece = string | undefined;

/** One word of a command. */
export type ShellWord = {
  /** As written in the source. */
  readonly text: string;
  /** What the shell passes on, with nothing where it inserts unknown text. */
  readonly value: string;
  readonly pieces: readonly Piece[];
  /** The syntax of the word; absent if the word is plain text or was composed by a program such as `xargs`. */
  readonly parts?: readonly WordPart[] | undefined;
};

/** One command that a script runs at any depth, without its assignments and redirections. */
export type ShellCommand = {
  readonly words: readonly ShellWord[];
  /** Standard input: as the shell's own, the output of another command, or the text of here-documents and here-strings. */
  readonly input: 'inherited' | 'piped' | { readonly pieces: readonly Piece[]; readonly text: string };
};

/** A redirection to or from a file. */
export type FileRedirect = { readonly target: ShellWord; readonly access: 'read' | 'write' };

/** Every command and redirection of a script; `error` says why the lists may be incomplete. */
export type ShellScript = {
  readonly commands: readonly ShellCommand[];
  readonly redirects: readonly FileRedirect[];
  readonly error?: string;
};

/** Lists every command a script may run: in pipelines, groups, loops, functions, substitutions and here-documents. */
export function shellCommands(
  source: string,
  standardInput: ShellCommand['input'] = 'inherited',
): ShellScript {
  const commands: ShellCommand[] = [];
  const redirects: FileRedirect[] = [];
  let error: string | undefined;
  let changesInput = false;
  const changesSeparators = /(?<![$\w{])IFS\b/.test(source.replace(/["'\\]/g, ''));
  const visit = (node: SyntaxNode, input: ShellCommand['input'], depth: number, text: string): void => {
    if (depth > MAX_NODE_DEPTH) {
      error ??= 'nested too deeply';
      return;
    }
    const inside = node.type === 'Script' ? (node.source ?? text) : text;
    if (node.type === 'Script') error ??= node.errors?.[0]?.message;
    // The parser takes this for a comment, the shell for the rest of the word.
    if (node.type === 'ProcessSubstitution' && inside[node.end] === '#')
      error ??= '"#" after a process substitution';
    if (node.type === 'ParameterExpansion' && node.text.endsWith('@P}'))
      error ??= '"@P" evaluates the value of a variable';
    if (node.type === 'Command') {
      const command = commandOf(node, input);
      if (changesSeparators && [node.name, ...node.args].some((it) => /\$\{?IFS/.test(it?.text ?? '')))
        error ??= 'a word contains IFS, which the command changes';
      commands.push(command);
      // `exec < <(…)` and `exec 3<<< x` change the input of the commands that follow.
      changesInput ||=
        command.words.some(({ value }) => value === 'exec') &&
        inputOf(node.redirects, 'inherited') !== 'inherited';
    }
    if (node.type === 'Command' || node.type === 'Redirected')
      redirects.push(...node.redirects.flatMap(fileOf));
    for (const script of evaluatedScripts(node)) {
      const problem = error;
      visit(parse(script), standardInput, depth + 1, script);
      error = problem;
    }
    if (node.type === 'Pipeline') {
      for (const [index, command] of node.commands.entries()) {
        visit(command, index > 0 ? 'piped' : input, depth + 1, inside);
      }
    } else {
      const inner =
        node.type === 'Redirected' ? inputOf(node.redirects, input) : readsPipe(node) ? 'piped' : input;
      forEachChild(node, (child) => visit(child, inner, depth + 1, inside));
    }
  };
  try {
    visit(parse(source), standardInput, 0, source);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  const withInput = changesInput
    ? commands.map((it) => (it.input === 'inherited' ? { ...it, input: 'piped' as const } : it))
    : commands;
  return { commands: withInput, redirects, ...(error !== undefined && { error }) };
}

/** `>(bash)` reads what is written to it, a coprocess what the shell sends, and a function whatever its callers read. */
function readsPipe(node: SyntaxNode): boolean {
  return (
    node.type === 'Coproc' ||
    node.type === 'Function' ||
    (node.type === 'ProcessSubstitution' && node.operator === '>')
  );
}

/** The states in which a command may leave the shell: if the command succeeds, and if it fails. */
export type Outcome<S> = { readonly succeeded: S; readonly failed: S };

/** What an interpretation of a script needs to know about its state `S`, such as the working directory. */
export type Interpreter<S> = {
  command(command: ShellCommand, state: S, run: (script: string, state: S) => Outcome<S>): Outcome<S>;
  redirect(redirect: FileRedirect, state: S): void;
  /** The variable gets one of the values; undefined if the values are unknown. */
  assign(name: string, values: readonly ShellWord[] | undefined, state: S): S;
  /** Either of the states; `one` itself if `other` adds nothing. */
  join(one: S, other: S): S;
  /** The state after a loop or a recursion that changes the state each time. */
  lose(state: S): S;
};

/**
 * Follows every path that the shell may take through a script: both branches of conditions, functions where they are
 * called, subshells without an effect on what follows. Returns why the interpretation is incomplete, if it is.
 */
export function interpretScript<S>(
  source: string,
  start: S,
  interpreter: Interpreter<S>,
): string | undefined {
  const { join } = interpreter;
  const functions = new Map<string, SyntaxNode>();
  let error: string | undefined;
  let steps = 0;
  let loops = 0;
  const called = new Set<SyntaxNode>();
  let input: ShellCommand['input'] = 'inherited';
  const both = (state: S): Outcome<S> => ({ succeeded: state, failed: state });
  const after = ({ succeeded, failed }: Outcome<S>) =>
    succeeded === failed ? succeeded : join(succeeded, failed);
  const run = (script: string, state: S, depth: number): Outcome<S> => {
    const problem = error;
    const outcome = visit(parse(script), state, depth + 1);
    error = problem ?? (steps > MAX_STEPS ? error : undefined);
    return outcome;
  };
  const withInput = (inner: ShellCommand['input'], act: () => Outcome<S>): Outcome<S> => {
    const outer = input;
    input = inner;
    const outcome = act();
    input = outer;
    return outcome;
  };
  const visitChildren = (node: SyntaxNode, state: S, depth: number): void => {
    forEachChild(node, (child) => {
      visit(child, state, depth);
    });
  };
  const visitLoop = (state: S, pass: (state: S) => S): Outcome<S> => {
    let current = state;
    loops += 1;
    for (let at = 0; at < (loops > MAX_LOOPS ? 0 : MAX_PASSES); at++) {
      const next = join(current, pass(current));
      const isSame = next === current;
      current = next;
      if (isSame) {
        loops -= 1;
        return both(current);
      }
    }
    const lost = interpreter.lose(current);
    const end = join(lost, pass(lost));
    loops -= 1;
    return both(end);
  };
  const visitCall = (body: SyntaxNode | undefined, state: S, depth: number): Outcome<S> | undefined => {
    if (!body) return undefined;
    if (called.has(body)) return both(interpreter.lose(state));
    called.add(body);
    const outcome = visit(body, state, depth + 1);
    called.delete(body);
    return outcome;
  };
  const visitCommand = (node: Command, state: S, depth: number): Outcome<S> => {
    visitChildren(node, state, depth);
    for (const redirect of node.redirects.flatMap(fileOf)) interpreter.redirect(redirect, state);
    const set = [...node.prefix, ...node.args].filter((it) => it.type === 'Assignment');
    const assigned = set.reduce((current, { name, value, append, index }) => {
      const isPlain = value.type === 'Word' && !append && !index;
      return interpreter.assign(name, isPlain ? [wordOf(value)] : undefined, current);
    }, state);
    if (!node.name) return both(assigned);
    const call = visitCall(functions.get(node.name.value), assigned, depth);
    const command = commandOf(node, input);
    const outcome = interpreter.command(command, assigned, (script, at) => run(script, at, depth));
    const all = call ? both(join(after(call), after(outcome))) : outcome;
    // Assignments before a command end with it, unless the command is a builtin.
    const isTemporary = node.prefix.some(({ type }) => type === 'Assignment');
    return isTemporary ? both(join(after(all), state)) : all;
  };
  const visit = (node: SyntaxNode, state: S, depth: number): Outcome<S> => {
    steps += 1;
    if (depth > MAX_NODE_DEPTH || steps > MAX_STEPS) {
      error ??= 'it is too long or nested too deeply';
      return both(state);
    }
    const sequence = (nodes: readonly SyntaxNode[]) =>
      nodes.reduce<Outcome<S>>((outcome, it) => visit(it, after(outcome), depth + 1), both(state));
    const branches = (clause: SyntaxNode, then: SyntaxNode, otherwise: (failed: S) => S): Outcome<S> => {
      const { succeeded, failed } = visit(clause, state, depth + 1);
      return both(join(after(visit(then, succeeded, depth + 1)), otherwise(failed)));
    };
    for (const script of evaluatedScripts(node)) run(script, state, depth);
    switch (node.type) {
      case 'Script':
        error ??= node.errors?.[0]?.message;
        return sequence(node.commands);
      case 'CompoundList':
        return sequence(node.commands);
      case 'Statement': {
        const outcome = visit(node.command, state, depth + 1);
        return node.background ? both(state) : outcome;
      }
      case 'Pipeline': {
        const outcomes = node.commands.map((command) => visit(command, state, depth + 1));
        // Some shells run the last command of a pipeline in the shell itself, not in a subshell.
        const { succeeded, failed } = outcomes.at(-1) ?? both(state);
        if (outcomes.length > 1) return both(join(state, after({ succeeded, failed })));
        const isNegated = node.prefixes.some(({ type }) => type === 'Negation');
        return isNegated ? { succeeded: failed, failed: succeeded } : { succeeded, failed };
      }
      case 'AndOr':
        return node.commands.slice(1).reduce<Outcome<S>>(
          (left, command, index) => {
            const isAnd = node.operators[index] === '&&';
            const right = visit(command, isAnd ? left.succeeded : left.failed, depth + 1);
            return isAnd
              ? { succeeded: right.succeeded, failed: join(left.failed, right.failed) }
              : { succeeded: join(left.succeeded, right.succeeded), failed: right.failed };
          },
          visit(node.commands[0] as SyntaxNode, state, depth + 1),
        );
      case 'If': {
        const otherwise = (failed: S) => (node.else ? after(visit(node.else, failed, depth + 1)) : failed);
        const rest = node.elif.reduceRight<(failed: S) => S>(
          (next, { clause, then }) =>
            (failed) => {
              const tested = visit(clause, failed, depth + 1);
              return join(after(visit(then, tested.succeeded, depth + 1)), next(tested.failed));
            },
          otherwise,
        );
        return branches(node.clause, node.then, rest);
      }
      case 'While':
        return visitLoop(state, (current) => {
          const { succeeded, failed } = visit(node.clause, current, depth + 1);
          const runs = node.kind === 'while' ? succeeded : failed;
          return join(after(visit(node.body, runs, depth + 1)), node.kind === 'while' ? failed : succeeded);
        });
      case 'For':
      case 'Select': {
        for (const word of node.wordlist ?? []) visit(word, state, depth + 1);
        const values = node.wordlist?.map(wordOf);
        return visitLoop(state, (current) =>
          after(visit(node.body, interpreter.assign(node.name.value, values, current), depth + 1)),
        );
      }
      case 'ArithmeticFor':
        return visitLoop(state, (current) => after(visit(node.body, current, depth + 1)));
      case 'Case': {
        visit(node.word, state, depth + 1);
        const ends = node.items.reduce(
          (current, { body }) => join(current, after(visit(body, current, depth + 1))),
          state,
        );
        return both(ends);
      }
      case 'BraceGroup':
        return visit(node.body, state, depth + 1);
      case 'Redirected':
        for (const redirect of node.redirects) visitChildren(redirect, state, depth + 1);
        for (const redirect of node.redirects.flatMap(fileOf)) interpreter.redirect(redirect, state);
        return withInput(inputOf(node.redirects, input), () => visit(node.command, state, depth + 1));
      case 'Function':
        visit(node.body, state, depth + 1);
        functions.set(node.name.value, node.body);
        return both(state);
      case 'Command':
        return visitCommand(node, state, depth);
      default:
        // Subshells, coprocesses, words and what the words contain.
        visitChildren(node, state, depth + 1);
        return both(state);
    }
  };
  try {
    visit(parse(source), start, 0);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  return error;
}

/** Maximum number of steps through a script, for nested loops and functions that call each other. */
const MAX_STEPS = 10_000;
/** Maximum number of passes through the body of a loop while the state changes, as with `cd ..`; then `lose` applies. */
const MAX_PASSES = 3;
/** Loops nested deeper than this are followed once. */
const MAX_LOOPS = 3;

/**
 * Substitutions in quoted text that the shell evaluates all the same: in arithmetic, in subscripts, and in arguments of
 * some builtins. Each script runs to the end of the text; what follows the substitution is not part of it.
 */
function evaluatedScripts(node: SyntaxNode): string[] {
  return evaluatedTexts(node)
    .filter((text) => /['"\\]/.test(text))
    .flatMap((text) =>
      [...text.matchAll(/\$\(|`/g)].slice(0, MAX_SUBSTITUTIONS).map(({ index }) => text.slice(index + 1)),
    )
    .map((text) => text.replace(/^\(/, ''));
}

function evaluatedTexts(node: SyntaxNode): string[] {
  switch (node.type) {
    case 'ArithmeticExpansion':
    case 'ParameterExpansion':
      return [node.text];
    case 'ArithmeticWord':
      return [node.value];
    case 'ArithmeticCommand':
      return [node.body];
    case 'TestUnary':
      return [node.operand.text];
    case 'TestBinary':
      return [node.left.text, node.right.text];
    case 'Assignment':
      // The shell evaluates the value of `PS4`, and that of any variable in arithmetic.
      return [node.text];
    case 'Command':
      return EVALUATING_BUILTINS.has(node.name?.value ?? '') ? node.args.map(({ text }) => text) : [];
    default:
      return [];
  }
}

const MAX_SUBSTITUTIONS = 20;

/** Maximum depth of the syntax tree: parsing nested substitutions takes time proportional to depth times length. */
const MAX_NODE_DEPTH = 250;

function commandOf({ name, args, redirects }: Command, input: ShellCommand['input']): ShellCommand {
  const words = args.flatMap((arg) =>
    arg.type === 'Word' ? wordsOf(arg) : { text: arg.text, value: arg.text, pieces: [arg.text] },
  );
  return { words: name ? [...wordsOf(name), ...words] : words, input: inputOf(redirects, input) };
}

function fileOf(redirect: Redirection): FileRedirect[] {
  if (redirect.type !== 'Redirect' || !redirect.target) return [];
  // `2>&1` and `>&-` copy and close descriptors.
  if (redirect.operator.endsWith('&') && /^[\d-]+$/.test(redirect.target.text)) return [];
  const target = wordOf(redirect.target);
  const isRead = /^<[>&]?$/.test(redirect.operator);
  const isWritten = !/^<&?$/.test(redirect.operator);
  return [
    ...(isRead ? [{ target, access: 'read' } as const] : []),
    ...(isWritten ? [{ target, access: 'write' } as const] : []),
  ];
}

/** Standard input after these redirections of a command or group: that of the last one, or all here-documents. */
function inputOf(redirects: readonly Redirection[], input: ShellCommand['input']): ShellCommand['input'] {
  const last = redirects.findLast((it) => it.type !== 'Redirect' || readsOther(it));
  if (!last) return input;
  if (last.type === 'Redirect') return 'piped';
  const given = redirects.flatMap((redirect) => {
    if (redirect.type === 'HereDoc') {
      return { pieces: bodyPieces(redirect.body.parts, redirect.body.text), text: redirect.body.text };
    }
    return redirect.type === 'HereString' && redirect.target ? wordOf(redirect.target) : [];
  });
  return {
    pieces: given.flatMap(({ pieces }) => [...pieces, '\n']),
    text: given.map(({ text }) => text).join('\n'),
  };
}

/** `< <(…)`, and `<&$fd` with a descriptor that only the shell knows. */
function readsOther({ operator, target }: Extract<Redirection, { type: 'Redirect' }>): boolean {
  const text = target?.text ?? '';
  return text.startsWith('<(') || (operator === '<&' && !/^[\d-]+$/.test(text));
}

function bodyPieces(parts: readonly WordPart[] | undefined, text: string): Piece[] {
  return parts ? parts.flatMap(piecesOf) : [text];
}

/** The words that the shell makes of one: it splits the word at an unquoted `$IFS`. */
function wordsOf(word: Word): ShellWord[] {
  if (!word.parts?.some(isBlank)) return [wordOf(word)];
  const groups: WordPart[][] = [[]];
  for (const part of word.parts) {
    if (isBlank(part)) groups.push([]);
    else groups.at(-1)?.push(part);
  }
  return groups
    .filter((parts) => parts.length > 0)
    .map((parts) => shellWord(parts.map(({ text }) => text).join(''), parts));
}

/** `$IFS`, also without its first or last characters. */
function isBlank(part: WordPart): boolean {
  return /^\$(?:IFS|\{IFS(?:[%#]{1,2}\?{1,2})?\})$/.test(part.text);
}

function wordOf({ text, value, parts }: Word): ShellWord {
  return parts ? shellWord(text, parts) : { text, value, pieces: [value] };
}

function shellWord(text: string, parts: readonly WordPart[]): ShellWord {
  const values = parts.map((part) =>
    part.type === 'BraceExpansion' ? part.text.slice(1, -1).replaceAll(',', ' ') : piecesOf(part).join(''),
  );
  return { text, value: values.join(''), pieces: parts.flatMap(piecesOf), parts };
}

function piecesOf(part: WordPart): Piece[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [part.value];
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.flatMap(piecesOf);
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return [isBlank(part) ? ' ' : undefined];
    case 'CommandExpansion':
      return part.script?.commands.length === 0 ? [''] : [undefined];
    case 'BraceExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'ExtendedGlob':
    case 'Glob':
      return [undefined];
  }
}

/** Shell builtins that evaluate an array subscript inside an argument, command substitutions included. */
export const EVALUATING_BUILTINS = new Set(
  '[ declare export getopts let local mapfile printf read readarray readonly test typeset unset wait'.split(
    ' ',
  ),
);
