import { isRecord } from '../../../base/json-value.ts';
import type { ConfigContext } from '../../../config/config-context.ts';
import { literalSecrets } from '../../../config/explain/mask-entry.ts';
import { secretName } from '../../../config/import/variables.ts';
import { openSecretStore } from '../../../config/secrets/secret-store.ts';
import { type WritableScope, writeServer } from '../../../config/write/write-servers.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import type { Candidate } from './import-decision.ts';

/** The result of storing one server. */
export type Stored =
  | {
      readonly kind: 'written';
      readonly hadOne: boolean;
      /** The names of the secrets that were stored for the server. */
      readonly secrets: readonly string[];
      /** The paths of credentials that are literally in the file. */
      readonly literal: readonly string[];
    }
  | { readonly kind: 'failed'; readonly why: string };

type StoreOptions = {
  readonly scope: WritableScope;
  readonly force: boolean;
  readonly secrets: boolean;
  /** False for a dry run. */
  readonly writes: boolean;
};

/** Writes one server, its secrets first. A failure does not affect other servers. */
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
    const isOne = literal.length === 1;
    const what = isOne ? 'looks like a secret' : 'look like secrets';
    const them = isOne ? 'it' : 'them';
    const remedy = options.secrets
      ? `use --force to write ${them} anyway`
      : `use --secrets to store ${them} in the secret store, or --force to write ${them} anyway`;
    return {
      kind: 'failed',
      why: `${literal.join(', ')} ${what}, and the file is shared; ${remedy}`,
    };
  }
  try {
    const store = openSecretStore(context);
    for (const secret of secrets) {
      const known = store.get(secret.name);
      if (known !== undefined && known !== secret.value && !options.force) {
        return {
          kind: 'failed',
          why: `secret ${secret.name} already exists with another value; use --force to replace it`,
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

/** An entry without credentials, and the secrets to store. */
type Extracted = {
  readonly entry: Entry;
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
};

/** Replaces credentials in `env` and `headers` by references to secrets. Credentials in other members stay. */
export function extractSecrets(server: string, entry: Entry): Extracted {
  const secrets: { name: string; value: string }[] = [];
  const places = literalSecrets(entry);
  const kept = Object.entries(entry).map(([member, value]) => {
    if ((member !== 'env' && member !== 'headers') || !isRecord(value)) return [member, value];
    const map = Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string' || !places.includes(`${member}.${key}`)) return [key, text];
      // References in a stored secret are not resolved.
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
