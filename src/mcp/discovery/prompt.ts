import { isRecord } from '../../base/json-value.ts';
import type { Icon } from '../../protocol/mcp.ts';
import { dropInvalidMembers, type MemberRules, parseNamed, RULES, type SizeBudget } from './parse-entry.ts';
import type { ReadEntry } from './read-list.ts';

/** A prompt of a server, which users run as a slash command; unknown members are kept. */
export type Prompt = {
  readonly name: string;
  readonly title?: string;
  /** Empty if the server sent none. */
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
};

export type PromptArgument = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
};

/** Parses one entry of `prompts/list`; invalid optional members are removed. */
export function parsePrompt(listed: unknown, room?: SizeBudget): ReadEntry<Prompt> {
  const named = parseNamed(listed, room);
  if ('fault' in named) return named;
  const { value, name } = named;
  const cleaned = dropInvalidMembers(value, OPTIONAL);
  const given: unknown = cleaned.value.arguments;
  const read = (Array.isArray(given) ? given : []).map(readArgument);
  const { description = '' } = cleaned.value;
  const item = { ...cleaned.value, name, description, arguments: read.flatMap(({ argument }) => argument) };
  return {
    item: item as Prompt,
    name,
    repairs: [...cleaned.repairs, ...read.flatMap(({ repairs }) => repairs)],
  };
}

const OPTIONAL: MemberRules = {
  title: RULES.text,
  description: RULES.text,
  arguments: [Array.isArray, 'a list'],
  icons: RULES.icons,
  _meta: RULES.object,
};

const OPTIONAL_OF_ARGUMENT: MemberRules = {
  title: RULES.text,
  description: RULES.text,
  required: RULES.flag,
};

function readArgument(
  value: unknown,
  at: number,
): { argument: readonly PromptArgument[]; repairs: readonly string[] } {
  const where = `arguments[${at}].`;
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') {
    return { argument: [], repairs: [`"arguments[${at}]" has no name and was removed`] };
  }
  const cleaned = dropInvalidMembers(value, OPTIONAL_OF_ARGUMENT, where);
  const required = cleaned.value.required === true;
  return {
    argument: [{ ...cleaned.value, name: value.name, required }],
    repairs: cleaned.repairs,
  };
}
