import { isRecord } from '../../base/is-record.ts';
import type { Connection } from '../connect/connection.ts';

/** A prompt a server offers, which people use as a slash command. */
export type Prompt = {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
};

const LIST_MS = 10_000;
/** How many pages are asked for at most: a server may never stop. */
const MAX_PAGES = 20;

/** The prompts of one server; one that cannot list them has none, and its tools are used all the same. */
export async function listPrompts(
  connection: Pick<Connection, 'capabilities' | 'ask'>,
  signal: AbortSignal,
): Promise<Prompt[]> {
  if (connection.capabilities.prompts === undefined) return [];
  const found: Prompt[] = [];
  let cursor: string | undefined;
  try {
    for (let page = 1; page <= MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await connection.ask('prompts/list', params, { signal, timeoutMs: LIST_MS });
      const { prompts, nextCursor }: Record<string, unknown> = isRecord(answer) ? answer : {};
      if (Array.isArray(prompts)) found.push(...prompts.flatMap(readPrompt));
      if (typeof nextCursor !== 'string' || nextCursor === cursor) break;
      cursor = nextCursor;
    }
  } catch {
    // What was listed before is there all the same.
  }
  return found;
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
