import { isRecord } from '../../base/is-record.ts';
import type { ExpandedEntry, ServerEntry } from '../../mcp/connection/connect-context.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { expandEntry } from './expand-entry.ts';

/** Where what is put in comes from. */
export type ExpanderWorld = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked only if an entry refers to a secret, and each time anew. */
  readonly secrets: SecretStore | (() => SecretStore);
  /** Servers whose entry is taken as it is written, such as one that comes from the network. */
  readonly literal?: (server: string) => boolean;
};

/** Puts in what entries refer to, each time they are dialled. Throws one `bad-config` that names all that is wrong. */
export function makeExpander({ env, secrets, literal }: ExpanderWorld) {
  const lookup = {
    // Not by `env[name]` alone: `constructor` is no variable.
    variable: (name: string) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name: string) => (typeof secrets === 'function' ? secrets() : secrets).get(name),
  };
  return (server: string, entry: ServerEntry): ExpandedEntry => {
    // What is no entry at all is refused by whoever dials it.
    if (!isRecord(entry) || entry.type === 'sdk' || literal?.(server) === true) return { entry, secrets: [] };
    const expanded = expandEntry(entry, lookup);
    if (expanded.kind === 'expanded') return expanded;
    throw new HostError('bad-config', server, expanded.faults.join('; '), { hasRun: 'no' });
  };
}
