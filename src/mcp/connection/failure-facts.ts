import { isRecord } from '../../base/is-record.ts';

/** What can be read off a failure, wherever in its causes it stands. */
export type FailureFacts = {
  /** The system's or a library's word for it. */
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  /** The answer's HTTP status. */
  readonly status: number | undefined;
  /** The answer's body. */
  readonly text: string | undefined;
  /** Why a server refused, in its own words. */
  readonly reason: string | undefined;
  /** How the server wants to be authorized. */
  readonly challenge: string | undefined;
  readonly contentType: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** False if nothing of the request left this machine. */
  readonly wasSent: boolean | undefined;
  /** Whether the request named a session. */
  readonly hadSession: boolean | undefined;
  readonly isUnauthorized: boolean;
  /** The transport was closed under it. */
  readonly isAborted: boolean;
  /** What the failure with that code says, or the innermost if none has one. */
  readonly said: string;
};

/** The first fact of its kind counts, from the failure inwards; the innermost code does, since outer ones only say that something failed. */
export function readFailure(failure: unknown): FailureFacts {
  const chain = causesOf(failure, []);
  const data = chain.flatMap((it) => (isRecord(it.data) ? [it.data] : []));
  const all = [...chain, ...data];
  const pick = <T>(key: string, isFine: (value: unknown) => value is T): T | undefined =>
    all.map((it) => it[key]).find(isFine);
  const coded = chain.findLast((it) => isText(it.code));
  const spoken = chain.findLast((it) => isText(it.message) && it.message !== '');
  return {
    code: coded?.code as string | undefined,
    syscall: pick('syscall', isText),
    status: pick('status', isNumber),
    text: pick('text', isText),
    reason: pick('reason', isText) ?? pick('text', isText),
    challenge: pick('challenge', isText),
    contentType: pick('contentType', isText),
    retryAfterMs: pick('retryAfterMs', isNumber),
    wasSent: pick('wasSent', isBoolean),
    hadSession: pick('hadSession', isBoolean),
    isAborted: chain.some((it) => it.name === 'AbortError'),
    isUnauthorized: chain.some((it) => it.name === 'UnauthorizedError'),
    said: String(coded?.message || (spoken ? spoken.message : failure)),
  };
}

/** The failure, its cause, and so on; of several at once, as when a host has many addresses, the last. */
function causesOf(failure: unknown, before: readonly unknown[]): Record<string, unknown>[] {
  if (!isRecord(failure) || before.includes(failure) || before.length > 10) return [];
  const inner = failure.cause ?? (Array.isArray(failure.errors) ? failure.errors.at(-1) : undefined);
  return [failure, ...causesOf(inner, [...before, failure])];
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
