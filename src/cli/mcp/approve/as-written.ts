import { isRecord } from '../../../base/json-value.ts';
import { isCredentialName } from '../../../base/text/redact.ts';
import { approvablePart } from '../../../config/approval/approved-content.ts';
import type { WrittenServer } from '../../../config/model.ts';
import { line, type Piece } from '../../chat/piece.ts';
import { whereText } from '../where.ts';
import type { Pending } from './pending.ts';

/** What a person must know to decide: all that is written, whole, each text quoted so that none can look like ours. */
export function pendingPieces(pending: Pending): Piece[] {
  const changed = pending.choice === 'changed' ? [line(['  changed since you approved it', 'warn'])] : [];
  if (pending.kind === 'server') {
    const { written } = pending;
    return [
      line(['? ', 'warn'], 'server ', [quoted(written.name), 'strong'], ` of ${whereText(written)}`),
      ...changed,
      ...rowsOf(written.raw),
      ...vainTrust(written),
    ];
  }
  const { source } = pending;
  return [
    line(['? ', 'warn'], 'settings of ', [source.label, 'strong'], ' would allow, run or set:'),
    ...changed,
    ...rowsOf(approvablePart(source.value) ?? {}),
  ];
}

/** Who approves it should not think that this comes with it. */
function vainTrust({ scope, raw }: WrittenServer): Piece[] {
  if (scope !== 'project' || !isRecord(raw) || raw.trust !== true) return [];
  return [line(['  "trust" will not count: a file that is shared cannot ask to be trusted', 'dim'])];
}

/** A name of many words, or with quotes in it, must be seen as one. */
function quoted(name: string): string {
  return /^[\w.@/:-]+$/.test(name) ? name : JSON.stringify(name);
}

function rowsOf(value: unknown): Piece[] {
  const shown = isRecord(value) ? { ...value, ...maps(value) } : value;
  return JSON.stringify(shown, null, 2)
    .split('\n')
    .map((row) => line(`  ${row}`));
}

function maps({ env, headers }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...(isRecord(env) && { env: withoutCredentials(env, mayBeCredential) }),
    ...(isRecord(headers) && { headers: withoutCredentials(headers, () => true) }),
  };
}

/** Only what can be nothing but a credential is left out: a path, a command or a reference must be seen. */
function withoutCredentials(
  map: Readonly<Record<string, unknown>>,
  mayBe: (name: string) => boolean,
): Record<string, unknown> {
  const shown = Object.entries(map).map(([name, value]) => [
    name,
    typeof value === 'string' && mayBe(name) ? value.replace(CREDENTIAL, '$1[hidden]') : value,
  ]);
  return Object.fromEntries(shown);
}

/** What the second kind of name holds is run. */
function mayBeCredential(name: string): boolean {
  return isCredentialName(name) && !/ASKPASS|COMMAND|PATH/i.test(name);
}

const CREDENTIAL = /^((?:Bearer|Basic|Token)\s+)?[\w-]{16,}$/i;
