import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from './contender.ts';
import { PATIENCE } from './patience.ts';

/** What a fault's user may expect did not hold; the message is what the report says. */
export class Failed extends Error {
  override readonly name = 'Failed';
}

export function check(holds: boolean, otherwise: string): void {
  if (!holds) throw new Failed(otherwise);
}

/** What came of a promise, and after how long. */
export type Outcome<T> =
  | { kind: 'answered'; value: T; ms: number }
  | { kind: 'rejected'; reason: string; ms: number }
  | { kind: 'silent'; ms: number };

/** Waits for a promise, but no longer than `ms` of a machine that is not busy. Never rejects. */
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

/** The value; what is not there in time, or fails, fails the play. */
export async function answers<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const came = await outcome(ms, promise);
  if (came.kind === 'answered') return came.value;
  throw new Failed(
    came.kind === 'silent' ? `${what}: nothing within ${ms} ms` : `${what}: ${short(came.reason)}`,
  );
}

/** The reason it rejects for, which has to match; the longest time it may take is part of the judgement. */
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

/** Tries again and again until it works; gives the value. */
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

/** The text of a result; a result that says it failed is not one. */
export function textOf(result: Result): string {
  const text = (result.content ?? []).map((block) => block.text ?? '').join('');
  if (result.isError) throw new Failed(`the tool failed: ${short(text)}`);
  return text;
}

/** All a person would read of a failure: its message and those of its causes. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const deeper = cause.cause === undefined ? '' : reasonOf(cause.cause);
  return cause.message.includes(deeper) ? cause.message : `${cause.message}: ${deeper}`;
}

export function short(text: string, length = 160): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
