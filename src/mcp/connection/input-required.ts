import { setTimeout as wait } from 'node:timers/promises';
import { isRecord } from '../../base/is-record.ts';
import { HostError } from './host-error.ts';
import type { ServerAnswer } from './server-answers.ts';
import { sayValue } from './tidy-message.ts';

/** What a server wants to know before it goes on. */
type Wanted = Readonly<Record<string, unknown>>;

/** How many times one request may come back with questions. */
const MAX_ROUNDS = 10;
/** How long a server that only wants to be asked again is let alone. */
const PACE_MS = 250;

/** Asks, answers what the server wants to know, and asks again until it has a result; `ask` gets the request's parameters. */
export async function askThrough(
  server: string,
  params: Readonly<Record<string, unknown>>,
  first: Wanted,
  answers: Readonly<Record<string, ServerAnswer>>,
  ask: (params: Record<string, unknown>) => Promise<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  let result: Wanted = first;
  for (let round = 1; isInputRequired(result); round++) {
    if (round > MAX_ROUNDS) {
      const fault = `it asked for more ${MAX_ROUNDS} times and never had enough; this is a fault of the server`;
      throw new HostError('unreachable', server, fault);
    }
    const inputResponses = await answerAll(server, result.inputRequests, answers, signal);
    const { requestState } = result;
    result = await ask({
      ...params,
      ...(inputResponses && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    });
  }
  return result;
}

export function isInputRequired(result: Wanted): boolean {
  return result.resultType === 'input_required';
}

/** All at once; when one fails or the request is over, the others are taken back. */
async function answerAll(
  server: string,
  wanted: unknown,
  answers: Readonly<Record<string, ServerAnswer>>,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const entries = Object.entries(isRecord(wanted) ? wanted : {});
  if (entries.length === 0) {
    await wait(PACE_MS, undefined, { signal });
    return undefined;
  }
  const round = new AbortController();
  const end = () => round.abort(signal.reason);
  signal.addEventListener('abort', end);
  try {
    const given = entries.map(async ([key, request]) => [
      key,
      await answerOne(server, request, answers, round.signal),
    ]);
    return Object.fromEntries(await Promise.all(given));
  } finally {
    signal.removeEventListener('abort', end);
    round.abort();
  }
}

async function answerOne(
  server: string,
  request: unknown,
  answers: Readonly<Record<string, ServerAnswer>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { method, params }: Record<string, unknown> = isRecord(request) ? request : {};
  const answer = typeof method === 'string' && Object.hasOwn(answers, method) ? answers[method] : undefined;
  if (!answer) {
    const fault = `it asks for ${sayValue(method).slice(0, 100)}, which nobody here answers; give the host a handler for it`;
    throw new HostError('unreachable', server, fault);
  }
  return answer(isRecord(params) ? params : {}, signal);
}
