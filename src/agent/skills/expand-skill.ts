import type { Skill } from './skill.ts';

/** What is filled into the text of a skill. */
export type Expansion = {
  /** The arguments as written. */
  readonly args: string;
  readonly sessionId: string;
  /** The directory of the plugin that the skill belongs to. */
  readonly pluginDirectory?: string | undefined;
};

/** A part of an expanded text: text, or a command whose output takes its place. */
export type ExpandedPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'command'; readonly command: string; readonly pattern: string };

/** How many commands one text may contain. */
export const MAX_COMMANDS = 20;

/** The words of a text; quotes group words. */
export function splitWords(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double?.replace(/\\(["\\])/g, '$1') ?? single ?? plain ?? '',
  );
}

/**
 * Fills in arguments and variables. Arguments are not searched for placeholders or commands again, and commands are found
 * in the text as written, so that an argument cannot add one. If the text has no placeholder for arguments, they are added
 * at its end.
 */
export function expandSkill(
  skill: Pick<Skill, 'body' | 'kind' | 'directory' | 'argumentNames'>,
  expansion: Expansion,
): ExpandedPart[] {
  const { body, kind, directory } = skill;
  const isFilled = { value: false };
  const fill = (text: string) => fillIn(text, skill, expansion, isFilled);
  const parts: ExpandedPart[] = [];
  let from = 0;
  for (const match of body.matchAll(COMMAND)) {
    const [pattern, command = ''] = match;
    parts.push({ kind: 'text', text: fill(body.slice(from, match.index)) });
    parts.push({ kind: 'command', command: fill(command), pattern });
    from = match.index + pattern.length;
  }
  parts.push({ kind: 'text', text: fill(body.slice(from)) });
  if (expansion.args.trim() !== '' && !isFilled.value)
    parts.push({ kind: 'text', text: `\n\nARGUMENTS: ${expansion.args}` });
  const base = kind === 'skill' ? [textPart(`Base directory for this skill: ${directory}\n\n`)] : [];
  return [...base, ...parts].filter((part) => part.kind === 'command' || part.text !== '');
}

function textPart(text: string): ExpandedPart {
  return { kind: 'text', text };
}

/** A command in the text: an exclamation mark before code. */
const COMMAND = /(?<=^|\s)!`([^`\n]+)`/gm;

/** A placeholder: a variable in braces, all arguments, one argument by its place, or a name. */
const PLACEHOLDER =
  /\$\{([A-Z_]+)\}|\$ARGUMENTS\[(\d{1,3})\]|\$ARGUMENTS\b|\$(\d{1,3})(?!\d)|\$([A-Za-z_]\w*)/g;

function fillIn(
  text: string,
  { directory, argumentNames }: Pick<Skill, 'directory' | 'argumentNames'>,
  { args, sessionId, pluginDirectory }: Expansion,
  isFilled: { value: boolean },
): string {
  const words = splitWords(args);
  const variables: Readonly<Record<string, string | undefined>> = {
    CLAUDE_SKILL_DIR: directory,
    TOOLPLANE_SKILL_DIR: directory,
    CLAUDE_SESSION_ID: sessionId,
    TOOLPLANE_SESSION_ID: sessionId,
    CLAUDE_PLUGIN_ROOT: pluginDirectory,
    TOOLPLANE_PLUGIN_ROOT: pluginDirectory,
  };
  return text.replaceAll(
    PLACEHOLDER,
    (written: string, variable?: string, index?: string, place?: string, name?: string) => {
      if (variable !== undefined) {
        if (variable === 'ARGUMENTS') isFilled.value = true;
        return variable === 'ARGUMENTS' ? args : (own(variables, variable) ?? written);
      }
      const at = index ?? place;
      if (at === undefined && name === undefined) {
        isFilled.value = true;
        return args;
      }
      const position = at === undefined ? argumentNames.indexOf(name as string) : Number(at);
      if (position === -1) return written;
      isFilled.value = true;
      // A missing argument stays as written.
      return words[position] ?? written;
    },
  );
}

function own(values: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** How many files one prompt may name. */
const MAX_MENTIONS = 20;

/** The paths after `@` in a text, without punctuation at the end, each once. */
export function mentionedPaths(text: string): string[] {
  const found = [...text.matchAll(/(?<=^|\s)@(?:"([^"\n]+)"|([^\s"'`<>]+))/gm)].map(
    ([, quoted, plain]) => quoted ?? (plain as string).replace(/[.,;:!?)\]}]+$/, ''),
  );
  return [...new Set(found.filter((path) => path !== ''))].slice(0, MAX_MENTIONS);
}
