import { join } from 'node:path';
import { isRecord } from '../../../base/json-value.ts';
import type { ConfigContext } from '../../../config/config-context.ts';
import { literalSecrets } from '../../../config/explain/mask-entry.ts';
import { secretName } from '../../../config/import/variables.ts';
import { fileSecretStore } from '../../../config/secrets/secret-store.ts';
import { type WritableScope, writeServer } from '../../../config/write/write-servers.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import type { Candidate } from './candidate.ts';

/** What became of one server. */
export type Stored =
  | {
      readonly kind: 'written';
      readonly hadOne: boolean;
      /** The names of secrets that were put into the store for it. */
      readonly secrets: readonly string[];
      /** Where a credential is written out in the file. */
      readonly literal: readonly string[];
    }
  | { readonly kind: 'failed'; readonly why: string };

type StoreOptions = {
  readonly scope: WritableScope;
  readonly force: boolean;
  readonly secrets: boolean;
  /** Without it, only what would become of it is told. */
  readonly writes: boolean;
};

/** Writes one server, its secrets first; what cannot be written is told and harms no other. */
export function storeCandidate(
  context: ConfigContext,
  { server, comparison }: Candidate,
  options: StoreOptions,
): Stored {
  const { name } = server;
  const { entry, secrets } = options.secrets
    ? extractSecrets(name, server.entry)
    : { entry: server.entry, secrets: [] };
  const literal = literalSecrets(entry);
  if (options.scope === 'project' && literal.length > 0 && !options.force) {
    const cure = options.secrets ? '--force writes it' : '--secrets keeps it out, --force writes it';
    return {
      kind: 'failed',
      why: `${literal.join(', ')} looks like a secret, and the file is shared; ${cure}`,
    };
  }
  try {
    const store = fileSecretStore(join(context.home, 'secrets.json'));
    for (const secret of secrets) {
      const known = store.get(secret.name);
      if (known !== undefined && known !== secret.value && !options.force) {
        return {
          kind: 'failed',
          why: `the secret ${secret.name} is another one already; --force replaces it`,
        };
      }
    }
    if (options.writes) for (const secret of secrets) store.set(secret.name, secret.value);
    const hadOne = options.writes
      ? writeServer(context, options.scope, name, entry).hadOne
      : comparison.kind !== 'new';
    return { kind: 'written', hadOne, secrets: secrets.map((it) => it.name), literal };
  } catch (cause) {
    return { kind: 'failed', why: messageOf(cause) };
  }
}

type Entry = Readonly<Record<string, unknown>>;

/** An entry without the credentials that stood in it, and where they belong. */
type Kept = {
  readonly entry: Entry;
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
};

/** Takes what looks like a credential out of `env` and `headers`; what else looks like one stays, and is told by others. */
export function extractSecrets(server: string, entry: Entry): Kept {
  const secrets: { name: string; value: string }[] = [];
  const places = literalSecrets(entry);
  const kept = Object.entries(entry).map(([member, value]) => {
    if ((member !== 'env' && member !== 'headers') || !isRecord(value)) return [member, value];
    const map = Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string' || !places.includes(`${member}.${key}`)) return [key, text];
      // What is in the store is put in as it is: a variable in it would stay a name.
      if (text.replaceAll('$${', '').includes('${')) return [key, text];
      const name = secretName(`${server}-${key}`).slice(0, MAX_SECRET_NAME);
      secrets.push({ name, value: text.replaceAll('$${', () => '${') });
      return [key, `\${secret:${name}}`];
    });
    return [member, Object.fromEntries(map)];
  });
  return { entry: Object.fromEntries(kept) as Entry, secrets };
}

const MAX_SECRET_NAME = 128;
