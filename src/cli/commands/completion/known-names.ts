// Loaded only when names are completed: reading the configuration is the slow part of a completion.
import { readConfiguration } from '../../../config/configuration.ts';
import { IMPORT_PROGRAMS } from '../../../config/import/programs.ts';
import { openSecretStore } from '../../../config/secrets/secret-store.ts';
import { cliContext } from '../../host/named-servers.ts';
import type { CompletionItem } from './next-words.ts';

/** Every configured server with its scopes. */
export async function serverItems(env: NodeJS.ProcessEnv): Promise<CompletionItem[]> {
  const { sources } = await readConfiguration(cliContext(env));
  const written = sources.flatMap(({ servers }) => servers);
  const scopes = Map.groupBy(written, ({ name }) => name);
  return [...scopes]
    .map(([word, its]) => ({ word, description: [...new Set(its.map(({ scope }) => scope))].join(', ') }))
    .sort((a, b) => (a.word < b.word ? -1 : 1));
}

/** The names of secrets; none if they cannot be read. */
export async function secretItems(env: NodeJS.ProcessEnv): Promise<CompletionItem[]> {
  try {
    const store = openSecretStore(cliContext(env));
    return store.names().map((word) => ({ word, description: 'secret' }));
  } catch {
    return [];
  }
}

/** The programs whose servers can be imported. */
export function sourceItems(): CompletionItem[] {
  return IMPORT_PROGRAMS.map(({ id, title }) => ({ word: id, description: title }));
}
