import type { Dispatcher } from 'undici';
import { eventStream } from './event-stream.ts';
import { excerpt } from './http-fault.ts';
import { HttpResponse, readHeaders } from './http-response.ts';
import { EVENTS, type HttpKind, JSON_TYPE, judgeAnswer, readJsonAnswer, tooLarge } from './judge-answer.ts';
import { quickRequestIdOf, requestIdOf } from './request-id.ts';
import { retryAfterMs } from './retry-after.ts';
import type { HttpWatch } from './watch.ts';

/** What was asked. */
export type Asked = {
  method: string;
  url: string;
  body: string;
  hadSession: boolean;
  signal: AbortSignal | undefined;
};

/** Reads one answer: all of it, unless it is a stream of events. Throws the fault of one that is of no use. */
export async function readAnswer(
  kind: HttpKind,
  asked: Asked,
  { statusCode: status, statusText, headers: raw, body }: Dispatcher.ResponseData,
  watch: HttpWatch,
): Promise<HttpResponse> {
  const headers = readHeaders(raw);
  const head = { status, statusText, url: asked.url, headers };
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === EVENTS && status === 200) {
    return new HttpResponse(head, eventStream(body, streamWatch(asked, watch)));
  }
  const whole = await bodyText(body, raw['content-length'], watch.limit, status);
  const isOk = status >= 200 && status < 300;
  const isPlain = isOk && status !== 202 && type === JSON_TYPE && whole !== '' && asked.method === 'POST';
  // Any other body is quoted in failures.
  const text = isPlain ? whole : watch.mask(whole);
  if (!isPlain) {
    const wantsAnswer = requestIdOf(asked.body) !== undefined;
    // By the server's own clock, which may not be ours.
    const now = Date.parse(headers.get('date') ?? '');
    const wait = retryAfterMs(headers.get('retry-after') ?? undefined, now);
    const { method, hadSession } = asked;
    const challenge = headers.get('www-authenticate') ?? undefined;
    const answer = { method, hadSession, wantsAnswer, status, type, text, retryAfterMs: wait, challenge };
    const fault = judgeAnswer(kind, answer);
    if (fault) throw fault;
  }
  // The transport puts all the text of a refusal into one message; what it reads itself is JSON.
  const shown = isOk || type === JSON_TYPE ? text : excerpt(text);
  return new HttpResponse(head, shown, () => readJsonAnswer(text, status, quickRequestIdOf(asked.body)));
}

function streamWatch({ method, body, signal }: Asked, watch: HttpWatch) {
  return {
    limit: watch.limit,
    onTooLong(seen: number | string | undefined) {
      const id = seen ?? (method === 'POST' ? requestIdOf(body) : undefined);
      watch.onTooLong(id, tooLarge(watch.limit));
      if (id === undefined) return undefined;
      // The transport must not ask for the event once more.
      const error = { code: -32603, message: 'The answer is too long' };
      return `data: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`;
    },
    onEnd(failure?: unknown) {
      if (!signal?.aborted) watch.onStreamEnd?.(method, failure);
    },
  };
}

/** The fast way for what says how long it is; the rest is counted as it comes. */
async function bodyText(
  body: Dispatcher.ResponseData['body'],
  declared: string | string[] | undefined,
  limit: number,
  status: number,
): Promise<string> {
  const length = Number(declared ?? Number.NaN);
  if (length <= limit) return body.text();
  body.on('error', () => {});
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!(length > limit)) {
    for await (const chunk of body) {
      size += (chunk as Uint8Array).length;
      if (size > limit) break;
      chunks.push(chunk as Uint8Array);
    }
    if (size <= limit) return Buffer.concat(chunks).toString('utf8');
  }
  body.destroy();
  throw tooLarge(limit, status);
}
