import type { Connection } from '../connection/connection.ts';
import type { Discovered } from './discovered.ts';
import { type Prompt, readPrompt } from './prompt.ts';
import { type ListLimits, readList } from './read-list.ts';

export type { Prompt } from './prompt.ts';

/** Prompts are listed as a server comes, and it is not to be held up by them. */
const PAGE_MS = 10_000;

/** The prompts of one server; one that says it has none is not asked. Rejects if it does not answer. */
export async function listPrompts(
  connection: Pick<Connection, 'name' | 'capabilities' | 'ask'>,
  { signal, limits }: { signal?: AbortSignal; limits?: Partial<ListLimits> } = {},
): Promise<Discovered<Prompt>> {
  if (connection.capabilities.prompts === undefined) return { items: [], diagnostics: [] };
  const options = { timeoutMs: PAGE_MS, ...(signal && { signal }) };
  return readList(
    {
      server: connection.name,
      list: 'prompts',
      ask: (cursor) => connection.ask('prompts/list', cursor === undefined ? {} : { cursor }, options),
      read: readPrompt,
    },
    limits,
  );
}
