import { isRecord } from '../../base/json-value.ts';
import type { Icon } from '../../protocol/mcp.ts';
import {
  dropInvalidMembers,
  FLAG,
  ICONS,
  type MemberRules,
  OBJECT,
  parseNamed,
  type SizeBudget,
  TEXT,
} from './parse-entry.ts';
import type { ReadEntry } from './read-list.ts';

/** A prompt a server offers, which people use as a slash command; what the protocol does not know of it is kept. */
export type Prompt = {
  readonly name: string;
  readonly title?: string;
  /** Empty if it says nothing of itself. */
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

/** Reads one entry of `prompts/list`; what is wrong with a member that can be spared is left out. */
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
  title: TEXT,
  description: TEXT,
  arguments: [Array.isArray, 'a list'],
  icons: ICONS,
  _meta: OBJECT,
};

const OPTIONAL_OF_ARGUMENT: MemberRules = { title: TEXT, description: TEXT, required: FLAG };

function readArgument(
  value: unknown,
  at: number,
): { argument: readonly PromptArgument[]; repairs: readonly string[] } {
  const where = `arguments[${at}].`;
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') {
    return { argument: [], repairs: [`"arguments[${at}]" has no name and was left out`] };
  }
  const cleaned = dropInvalidMembers(value, OPTIONAL_OF_ARGUMENT, where);
  const required = cleaned.value.required === true;
  return {
    argument: [{ ...cleaned.value, name: value.name, required }],
    repairs: cleaned.repairs,
  };
}
