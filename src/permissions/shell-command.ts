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
};

/** One command that a script runs at any depth, without its assignments and redirections. */
export type ShellCommand = {
  readonly words: readonly ShellWord[];
  /** Standard input: as the shell's own, the output of another command, or the text of here-documents and here-strings. */
  readonly input: 'inherited' | 'piped' | { readonly pieces: readonly Piece[]; readonly text: string };
};

/** A redirection to or from a file. */
type FileRedirect = { readonly target: ShellWord; readonly access: 'read' | 'write' };

/** Every command and redirection of a script; `error` says why the lists may be incomplete. */
export type ShellScript = {
  readonly commands: readonly ShellCommand[];
  readonly redirects: readonly FileRedirect[];
  readonly error?: string;
};

/** Lists every command a script may run: in pipelines, groups, loops, functions, substitutions and here-documents. */
export function shellCommands(source: string): ShellScript {
  const commands: ShellCommand[] = [];
  const redirects: FileRedirect[] = [];
  let error: string | undefined;
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
    if (node.type === 'Command') commands.push(commandOf(node, input));
    if (node.type === 'Command' || node.type === 'Redirected')
      redirects.push(...node.redirects.flatMap(fileOf));
    for (const script of evaluatedScripts(node)) {
      const problem = error;
      visit(parse(script), 'inherited', depth + 1, script);
      error = problem;
    }
    if (node.type === 'Pipeline') {
      for (const [index, command] of node.commands.entries()) {
        visit(command, index > 0 ? 'piped' : input, depth + 1, inside);
      }
    } else {
      const inner = node.type === 'Redirected' ? inputOf(node.redirects, input) : input;
      forEachChild(node, (child) => visit(child, inner, depth + 1, inside));
    }
  };
  try {
    visit(parse(source), 'inherited', 0, source);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  return { commands, redirects, ...(error !== undefined && { error }) };
}

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
      return node.index ? [node.index.text] : [];
    case 'Command':
      return EVALUATING_BUILTINS.has(node.name?.value ?? '') ? node.args.map(({ text }) => text) : [];
    default:
      return [];
  }
}

const MAX_SUBSTITUTIONS = 20;

/** Substitutions are parsed when they are visited, which takes time by depth times length. */
const MAX_NODE_DEPTH = 250;

function commandOf({ name, args, redirects }: Command, input: ShellCommand['input']): ShellCommand {
  const words = args.map((arg) =>
    arg.type === 'Word' ? wordOf(arg) : { text: arg.text, value: arg.text, pieces: [arg.text] },
  );
  return { words: name ? [wordOf(name), ...words] : words, input: inputOf(redirects, input) };
}

function fileOf(redirect: Redirection): FileRedirect[] {
  if (redirect.type !== 'Redirect' || !redirect.target) return [];
  // `2>&1` and `>&-` copy and close descriptors.
  if (redirect.operator.endsWith('&') && /^[\d-]+$/.test(redirect.target.text)) return [];
  const access = redirect.operator === '<' || redirect.operator === '<&' ? 'read' : 'write';
  return [{ target: wordOf(redirect.target), access }];
}

/** Standard input after these redirections of a command or group: that of the last one, or all here-documents. */
function inputOf(redirects: readonly Redirection[], input: ShellCommand['input']): ShellCommand['input'] {
  const last = redirects.findLast((it) => it.type !== 'Redirect' || it.target?.text.startsWith('<('));
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

function bodyPieces(parts: readonly WordPart[] | undefined, text: string): Piece[] {
  return parts ? parts.flatMap(piecesOf) : [text];
}

function wordOf({ text, value, parts }: Word): ShellWord {
  if (!parts) return { text, value, pieces: [value] };
  const values = parts.map((part) =>
    part.type === 'BraceExpansion' ? part.text.slice(1, -1).replaceAll(',', ' ') : piecesOf(part).join(''),
  );
  return { text, value: values.join(''), pieces: parts.flatMap(piecesOf) };
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
      // `$?`, `$#`, `$!` and `$$` are numbers.
      return [part.text === '$IFS' ? ' ' : /^\$[?#!$]$/.test(part.text) ? '0' : undefined];
    case 'ParameterExpansion':
      return [part.parameter === 'IFS' ? ' ' : undefined];
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
