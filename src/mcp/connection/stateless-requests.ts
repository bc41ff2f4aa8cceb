import { setTimeout as wait } from 'node:timers/promises';
import { startTimer } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import { RequestAbortError } from '../../protocol/sdk-error.ts';
import { HostError, ServerFault } from '../errors/host-error.ts';
import { formatValue } from './normalize-message.ts';
import { type HeaderParam, paramHeaders, readHeaderParams } from './param-headers.ts';
import { formatTimeout, type OutgoingRequest, type RequestOptions, type Requests } from './requests.ts';
import type { RequestHandler } from './server-requests.ts';

const HEADER_MISMATCH = -32020;
/** Maximum number of pages read to learn which headers a tool requires. */
const MAX_PAGES = 100;

/** Requests of the stateless protocol: adds the headers that tools require, and answers input requests of the server. */
export class StatelessRequests {
  readonly #server: string;
  readonly #requests: Requests;
  readonly #answers: Readonly<Record<string, RequestHandler>>;
  /** Whether the transport has headers. */
  readonly #mirrors: boolean;
  /** Whether the result of a call may be a task. */
  readonly #acceptsTasks: boolean;
  readonly #params = new Map<string, readonly HeaderParam[]>();

  constructor(
    server: string,
    requests: Requests,
    {
      answers,
      mirrors,
      acceptsTasks = false,
    }: { answers: Readonly<Record<string, RequestHandler>>; mirrors: boolean; acceptsTasks?: boolean },
  ) {
    this.#server = server;
    this.#requests = requests;
    this.#answers = answers;
    this.#mirrors = mirrors;
    this.#acceptsTasks = acceptsTasks;
  }

  /** A tool call has the headers of the tool as listed; if the server requires others, the tools are listed again. */
  async request(question: OutgoingRequest, options: RequestOptions): Promise<Record<string, unknown>> {
    if (!this.#mirrors || question.method !== 'tools/call') return this.#complete(question, options);
    const started = performance.now();
    try {
      return await this.#complete(this.#withHeaders(question), options);
    } catch (failure) {
      if (!(failure instanceof ServerFault) || failure.code !== HEADER_MISMATCH) throw failure;
      const left = () => withTimeLeft(options, started);
      await this.#relist(left);
      return this.#complete(this.#withHeaders(question), left());
    }
  }

  async #complete(question: OutgoingRequest, options: RequestOptions): Promise<Record<string, unknown>> {
    const started = performance.now();
    const first = await this.#requests.request(question, options);
    const result = isInputRequired(first)
      ? await this.#completeInput(question, first, options, started)
      : first;
    const { resultType, ...rest } = result;
    if (resultType === 'task' && this.#acceptsTasks) return result;
    if (resultType !== undefined && resultType !== 'complete') {
      const detail = `the result of "${question.method}" has the unsupported resultType ${formatValue(resultType).slice(0, 100)}; update Toolplane, or report this to the server's author`;
      throw new HostError('unreachable', this.#server, detail);
    }
    if (this.#mirrors && question.method === 'tools/list') this.#note(rest.tools);
    return rest;
  }

  #withHeaders(question: OutgoingRequest): OutgoingRequest {
    const { name, arguments: args } = question.params;
    const marked = this.#params.get(String(name));
    const headers = marked ? paramHeaders(marked, args as Record<string, unknown>) : {};
    return Object.keys(headers).length > 0 ? { ...question, headers } : question;
  }

  async #relist(left: () => RequestOptions): Promise<void> {
    let cursor: unknown;
    for (let page = 1; page <= MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { signal, timeoutMs } = left();
      const options = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
      const { nextCursor } = await this.request({ method: 'tools/list', params }, options);
      if (typeof nextCursor !== 'string' || nextCursor === cursor) return;
      cursor = nextCursor;
    }
  }

  #note(tools: unknown): void {
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isRecord(tool) || typeof tool.name !== 'string') continue;
      const found = readHeaderParams(tool.inputSchema);
      if ('fault' in found || found.length === 0) this.#params.delete(tool.name);
      else this.#params.set(tool.name, found);
    }
  }

  /** The total limit covers all rounds, including the answers of users; the idle limit counts only while the server works. */
  async #completeInput(
    question: OutgoingRequest,
    first: Record<string, unknown>,
    options: RequestOptions,
    started: number,
  ): Promise<Record<string, unknown>> {
    const { signal, timeoutMs } = options;
    const over = new AbortController();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {});
    const end = (failure: Error) => {
      over.abort(failure);
      ended.reject(failure);
    };
    const abort = () => end(new RequestAbortError('The request was aborted', { cause: signal?.reason }));
    const left = timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - started);
    const timer =
      left === undefined || timeoutMs === undefined
        ? undefined
        : startTimer(Math.max(left, 0), () => {
            const subject =
              question.method === 'tools/call' ? `tool "${question.params.name}"` : `"${question.method}"`;
            end(new HostError('timeout', this.#server, formatTimeout(subject, 'total', timeoutMs)));
          });
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    const { timeoutMs: _, ...each } = options;
    const send = (params: Record<string, unknown>) =>
      this.#requests.request({ ...question, params }, { ...each, signal: over.signal });
    try {
      const answered = answerInputRequests(
        this.#server,
        question.params,
        first,
        this.#answers,
        send,
        over.signal,
      );
      answered.catch(() => {});
      return await Promise.race([answered, ended.promise]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }
}

/** The same options with the remaining time. */
function withTimeLeft(options: RequestOptions, started: number): RequestOptions {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return options;
  return { ...options, timeoutMs: Math.max(1, timeoutMs - (performance.now() - started)) };
}

/** An incomplete result that requests input. */
type Wanted = Readonly<Record<string, unknown>>;

/** Maximum number of rounds of input requests in one request. */
const MAX_ROUNDS = 10;
/** Delay before a server that requests no input is asked again. */
const PACE_MS = 250;

/** Answers the server's input requests and repeats the request with `ask` until it has a result. */
async function answerInputRequests(
  server: string,
  params: Readonly<Record<string, unknown>>,
  first: Wanted,
  answers: Readonly<Record<string, RequestHandler>>,
  ask: (params: Record<string, unknown>) => Promise<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  let result: Wanted = first;
  for (let round = 1; isInputRequired(result); round++) {
    if (round > MAX_ROUNDS) {
      const detail = `the server still requested input after ${MAX_ROUNDS} rounds; report this to the server's author`;
      throw new HostError('unreachable', server, detail);
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

function isInputRequired(result: Wanted): boolean {
  return result.resultType === 'input_required';
}

/** Answers all at once; when one fails or the request ends, the others are aborted. */
async function answerAll(
  server: string,
  wanted: unknown,
  answers: Readonly<Record<string, RequestHandler>>,
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
  answers: Readonly<Record<string, RequestHandler>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { method, params }: Record<string, unknown> = isRecord(request) ? request : {};
  const answer = typeof method === 'string' && Object.hasOwn(answers, method) ? answers[method] : undefined;
  if (!answer) {
    const what =
      typeof method === 'string'
        ? `requested ${formatValue(method).slice(0, 100)}, which this client did not declare`
        : 'sent an input request without a method';
    const detail = `the server ${what}; report this to the server's author`;
    throw new HostError('unreachable', server, detail);
  }
  return answer(isRecord(params) ? params : {}, signal);
}
