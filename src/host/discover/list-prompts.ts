import { isRecord } from '../../base/is-record.ts';
import type { Connection } from '../connect/connection.ts';

/** A prompt a server offers, which people use as a slash command. */
export type Prompt = {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
};

const LIST_MS = 10_000;

/** The prompts of one server; one that cannot list them has none, and its tools are used all the same. */
export async function listPrompts(connection: Connection, signal: AbortSignal): Promise<Prompt[]> {
  if (connection.capabilities.prompts === undefined) return [];
  try {
    const answer = await connection.ask('prompts/list', {}, { signal, timeoutMs: LIST_MS });
    const prompts: unknown = isRecord(answer) ? answer.prompts : undefined;
    return Array.isArray(prompts) ? prompts.flatMap(readPrompt) : [];
  } catch {
    return [];
  }
}

function readPrompt(value: unknown): Prompt[] {
  if (!isRecord(value) || typeof value.name !== 'string') return [];
  const given: unknown[] = Array.isArray(value.arguments) ? value.arguments : [];
  return [
    {
      name: value.name,
      description: typeof value.description === 'string' ? value.description : '',
      arguments: given.flatMap((it) =>
        isRecord(it) && typeof it.name === 'string'
          ? [{ name: it.name, required: it.required === true }]
          : [],
      ),
    },
  ];
}
