import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from './contender.ts';
import { PATIENCE } from './patience.ts';

/** A statement did not hold; the message is shown in the report. */
export class Failed extends Error {
  override readonly name = 'Failed';
}

export function check(holds: boolean, otherwise: string): void {
  if (!holds) throw new Failed(otherwise);
}

/** The outcome of a promise, and the time it took. */
export type Outcome<T> =
  | { kind: 'answered'; value: T; ms: number }
  | { kind: 'rejected'; reason: string; ms: number }
  | { kind: 'silent'; ms: number };

/** Waits for a promise for at most `ms`, extended on a busy machine. Never rejects. */
export async function outcome<T>(ms: number, promise: Promise<T>): Promise<Outcome<T>> {
  const since = performance.now();
  const took = () => Math.round(performance.now() - since);
  const timer = new AbortController();
  const answered = promise.then(
    (value) => ({ kind: 'answered', value, ms: took() }) as const,
    (cause) => ({ kind: 'rejected', reason: reasonOf(cause), ms: took() }) as const,
  );
  const silent = sleep(ms * PATIENCE, undefined, { signal: timer.signal }).then(
    () => ({ kind: 'silent', ms }) as const,
    () => ({ kind: 'silent', ms }) as const,
  );
  const first = await Promise.race([answered, silent]);
  timer.abort();
  return first;
}

/** The value; a rejection or a timeout fails the fault. */
export async function answers<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const came = await outcome(ms, promise);
  if (came.kind === 'answered') return came.value;
  throw new Failed(
    came.kind === 'silent' ? `${what}: nothing within ${ms} ms` : `${what}: ${short(came.reason)}`,
  );
}

/** The reason of the rejection, which has to match and to come in time. */
export async function rejects(
  ms: number,
  what: string,
  promise: Promise<unknown>,
  reason = /\w{4}/,
): Promise<string> {
  const came = await outcome(ms, promise);
  if (came.kind === 'answered') throw new Failed(`${what}: it was answered`);
  if (came.kind === 'silent') throw new Failed(`${what}: still waiting after ${ms} ms`);
  check(reason.test(came.reason), `${what}: the reason is not clear: ${short(came.reason)}`);
  return came.reason;
}

/** Retries until it succeeds; returns the value. */
export async function eventually<T>(ms: number, what: string, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + ms * PATIENCE;
  for (;;) {
    const left = Math.max(until - performance.now(), 1);
    const came = await outcome(left / PATIENCE, attempt());
    if (came.kind === 'answered') return came.value;
    if (performance.now() + RETRY_MS > until) {
      const why = came.kind === 'rejected' ? `: ${short(came.reason)}` : '';
      throw new Failed(`${what}: not within ${ms} ms${why}`);
    }
    await sleep(RETRY_MS);
  }
}

const RETRY_MS = 100;

/** The text of a result; a result with `isError` fails. */
export function textOf(result: Result): string {
  const text = (result.content ?? []).map((block) => block.text ?? '').join('');
  if (result.isError) throw new Failed(`the tool failed: ${short(text)}`);
  return text;
}

/** The message of a failure and of its causes. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const deeper = cause.cause === undefined ? '' : reasonOf(cause.cause);
  return cause.message.includes(deeper) ? cause.message : `${cause.message}: ${deeper}`;
}

export function short(text: string, length = 160): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
