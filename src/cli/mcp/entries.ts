import { nearest } from '../../base/text/nearest.ts';
import type { Configuration } from '../../config/configuration.ts';
import { maskEntry } from '../../config/explain/mask-entry.ts';
import { type ServerRecord, shortStatus } from '../../config/explain/server-record.ts';
import { formatPosition } from '../../config/files/diagnostics.ts';
import type { WrittenServer } from '../../config/model.ts';
import type { AuthStatus } from '../../mcp/auth/auth-types.ts';
import { UsageError } from '../output/failure.ts';
import type { Tone } from '../terminal/render.ts';

/** The scope of an entry and its position in the file. */
export function whereText({ scope, label, position }: WrittenServer): string {
  return `${scope}, ${formatPosition(label, position)}`;
}

/** The location of an entry as JSON. */
export function whereDocument({ scope, label, path, position, owner }: WrittenServer): {
  readonly scope: string;
  readonly label: string;
  readonly path?: string;
  readonly position?: { readonly line: number; readonly column: number };
  readonly owner?: string;
} {
  return {
    scope,
    label,
    ...(path !== undefined && { path }),
    ...(position && { position }),
    ...(owner !== undefined && { owner }),
  };
}

/** The status of a server as JSON; `text` has the reason and what to do. */
export function statusDocument(record: ServerRecord): {
  readonly state: ServerRecord['state'];
  readonly text: string;
  readonly tools?: number;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly auth?: AuthStatus;
} {
  const { state, connection, auth } = record;
  const status = { state, text: shortStatus(record), ...(auth && { auth }) };
  if (state !== 'connected' || connection === 'not asked') return status;
  const { tools = 0, serverInfo } = connection;
  return { ...status, tools, ...(serverInfo && { serverInfo }) };
}

/** How a server is authorized, on one line; undefined if there is nothing to say. */
export function authText({
  kind,
  state,
  expiresAt,
  scopes = [],
  issuer,
  store,
}: AuthStatus): string | undefined {
  // The entry itself shows credentials in "headers" and "headersHelper".
  if (kind === 'none' || kind === 'header' || kind === 'helper') return undefined;
  const who = kind === 'oauth' ? 'signed in' : `access token by ${kind}`;
  const what = {
    authorized: who,
    expired: 'the sign-in has expired',
    'needs-auth': 'not signed in',
    none: 'no access token yet',
  };
  return [
    `${what[state]}${issuer === undefined ? '' : ` at ${issuer}`}`,
    ...(expiresAt === undefined ? [] : [`access token until ${expiresAt}`]),
    ...(scopes.length === 0 ? [] : [`scopes ${scopes.join(' ')}`]),
    ...(store === undefined ? [] : [`stored in ${STORES[store]}`]),
  ].join(', ');
}

const STORES: Readonly<Record<NonNullable<AuthStatus['store']>, string>> = {
  keychain: 'a file that is encrypted with a key in the keychain',
  file: 'an encrypted file',
  memory: 'memory',
  custom: 'the store of the program',
};

/** Mark and color of each state. */
export const STATE_MARKS: Readonly<Record<ServerRecord['state'], readonly [mark: string, tone: Tone]>> = {
  connected: ['✓', 'good'],
  ready: ['·', 'dim'],
  failed: ['✗', 'bad'],
  broken: ['✗', 'bad'],
  blocked: ['✗', 'bad'],
  pending: ['⏸', 'warn'],
  rejected: ['⏸', 'dim'],
  disabled: ['⏸', 'dim'],
  ignored: ['·', 'dim'],
  unknown: ['?', 'warn'],
};

/** A server in short, such as `stdio: npx -y some-server`, with secrets masked. */
export function entryText(raw: unknown): string {
  const { type, command, args, url } = maskEntry(raw);
  if (typeof url === 'string') return `${typeof type === 'string' ? type : 'http'}: ${url}`;
  const line = [command, ...(Array.isArray(args) ? args : [])].filter((it) => it !== undefined);
  return `${typeof type === 'string' ? type : 'stdio'}: ${line.map((it) => wordText(String(it))).join(' ')}`;
}

/** Quotes an argument with spaces or quotes, or an empty one. */
function wordText(word: string): string {
  return /^[^\s'"\\]+$/.test(word) ? word : JSON.stringify(word);
}

/** Every entry of the name, highest precedence first. */
export function entriesOf({ sources }: Pick<Configuration, 'sources'>, name: string): WrittenServer[] {
  return sources.flatMap(({ servers }) => servers.filter((it) => it.name === name)).reverse();
}

/** The error for an unknown name. */
export function unknownServer({ sources }: Pick<Configuration, 'sources'>, name: string): UsageError {
  const known = [...new Set(sources.flatMap(({ servers }) => servers.map((it) => it.name)))].sort();
  const closest = nearest(name, known);
  const hint = closest === undefined ? '' : `; did you mean "${closest}"?`;
  const few =
    known.length <= MAX_NAMES ? known.join(', ') : `${known.slice(0, MAX_NAMES).join(', ')} and others`;
  const others = known.length === 0 ? '; to add a server, run toolplane mcp add' : ` (known: ${few})`;
  return new UsageError(`unknown server "${name}"${hint}${others}`);
}

const MAX_NAMES = 10;
