import type { ServerCapabilities } from '@modelcontextprotocol/client';
import type {
  ApplicationInputRequest,
  ConnectedMcpSessionPort,
  TaskEnabledSession,
  TaskView,
} from '@modelcontextprotocol/ext-tasks/client';
import type { RuntimeCodec } from '@modelcontextprotocol/ext-tasks/core';
import { startTimer } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { CallToolResult, ListedTool } from '../../protocol/mcp.ts';
import { RequestAbortError } from '../../protocol/sdk-error.ts';
import { CHECK_EFFECT } from '../errors/classify-failure.ts';
import { HostError, ServerFault } from '../errors/host-error.ts';
import type { Notifications } from './notifications.ts';
import { formatTimeout, type RequestOptions, type Requests } from './requests.ts';
import type { RequestHandler } from './server-requests.ts';

/** The extension of MCP 2026-07-28 that the client declares. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Whether a tool must be called as a task. */
export type TaskSupport = NonNullable<ListedTool['execution']>['taskSupport'];

type Generation = 'v1' | 'v2';

/** How a server runs tool calls as tasks; undefined if it does not. */
export function taskGeneration(
  capabilities: ServerCapabilities,
  era: 'legacy' | 'modern',
): Generation | undefined {
  if (era === 'modern') return capabilities.extensions?.[TASKS_EXTENSION] ? 'v2' : undefined;
  const { tasks } = capabilities as { tasks?: { requests?: { tools?: { call?: unknown } } } };
  return tasks?.requests?.tools?.call ? 'v1' : undefined;
}

type TaskCallsDeps = {
  readonly server: string;
  readonly generation: Generation;
  readonly capabilities: ServerCapabilities;
  readonly requester: Pick<Requests, 'request'>;
  readonly notices: Notifications;
  readonly answers: Readonly<Record<string, RequestHandler>>;
};

/** How often a task may ask for input. */
const MAX_INPUT_ROUNDS = 10;

/** Calls tools of a server that may answer with a task, and follows the task to its result. */
export class TaskCalls {
  readonly #deps: TaskCallsDeps;
  #session: Promise<TaskEnabledSession> | undefined;

  constructor(deps: TaskCallsDeps) {
    this.#deps = deps;
  }

  /** In MCP 2025-11-25 the client decides, and only tools that require it are called as tasks; later the server decides. */
  handles(taskSupport: TaskSupport | undefined): boolean {
    return this.#deps.generation === 'v2' || taskSupport === 'required';
  }

  /** Resolves with the result of the task. An abort or a time limit cancels the task. */
  async call(
    tool: string,
    args: Record<string, unknown>,
    options: RequestOptions,
  ): Promise<Partial<CallToolResult>> {
    const { server, generation } = this.#deps;
    this.#session = this.#session ?? this.#open();
    const session = await this.#session;
    using limits = new TaskLimits(server, tool, options);
    try {
      const declaration = { name: tool, inputSchema: {}, taskSupport: 'required' as const };
      const execution = await session.callTool(tool, args as never, {
        resultCodec: ANY_RESULT,
        signal: limits.signal,
        ...(options.meta && { metadata: options.meta as never }),
        ...(generation === 'v1' && { declaration, task: { preference: 'require' } }),
      });
      const cancel = () => void execution.cancel().catch(() => {});
      limits.signal.addEventListener('abort', cancel, { once: true });
      const { outcome } = await execution.settle({
        signal: limits.signal,
        onEvent: (event) => {
          if (event.type === 'task') limits.progressed(event.task);
        },
      });
      switch (outcome.status) {
        case 'completed':
          return withoutType(outcome.result);
        case 'failed':
          throw new ServerFault(
            server,
            outcome.error.code ?? -32603,
            outcome.error.message,
            outcome.error.data,
          );
        case 'cancelled':
          throw new HostError(
            'unreachable',
            server,
            `the server cancelled the task of tool "${tool}"; ${CHECK_EFFECT}`,
          );
      }
    } catch (failure) {
      throw limits.reason ?? originOf(failure);
    }
  }

  async #open(): Promise<TaskEnabledSession> {
    const { withTasks } = await import('@modelcontextprotocol/ext-tasks/client');
    return withTasks(this.#port(), {
      tools: { currentTool: () => undefined },
      onInputRequest: async (request, { signal }) =>
        (await this.#answer(request, signal ?? new AbortController().signal)) as never,
      // Nothing to do: each error rejects the call that it belongs to.
      onError: () => {},
      maxInputRounds: MAX_INPUT_ROUNDS,
    });
  }

  async #answer(
    { kind, params = {} }: ApplicationInputRequest,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const answer = this.#deps.answers[METHODS[kind]];
    if (!answer) {
      const detail = `the server requested ${METHODS[kind]}, which this client did not declare; report this to the server's author`;
      throw new HostError('unreachable', this.#deps.server, detail);
    }
    return answer(params, signal);
  }

  /** The connection as the task library uses it: requests keep their ids, limits and errors. */
  #port(): ConnectedMcpSessionPort {
    const { server, generation, capabilities, requester, notices } = this.#deps;
    let isInvalid = false;
    notices.closed.on(() => {
      isInvalid = true;
    });
    return {
      endpointId: server,
      taskCapabilities: (generation === 'v1'
        ? { generation, capabilities: (capabilities as { tasks?: unknown }).tasks }
        : { generation, capabilities: capabilities.extensions?.[TASKS_EXTENSION] ?? {} }) as never,
      async dispatch(given, { signal } = {}) {
        const { method, params } = given as { method: string; params?: Record<string, unknown> };
        try {
          const sent = { method, params: params ?? {} };
          const result = await requester.request(sent, signal ? { signal } : {});
          return { kind: 'result', result: { ...(generation === 'v2' && COMPLETE), ...result } as never };
        } catch (failure) {
          if (!(failure instanceof ServerFault)) throw failure;
          const { code, message, data } = failure;
          return {
            kind: 'error',
            error: { code, message, ...(data !== undefined && { data: data as never }) },
          };
        }
      },
      onServerRequest: () => () => {},
      onNotification: (listener) =>
        notices.all.on((method, params) => listener({ jsonrpc: '2.0', method, params } as never)),
      onInvalidated: (listener) =>
        notices.closed.on(() =>
          listener(
            new HostError('closed', server, 'the connection was lost during a task', { isTerminal: true }),
          ),
        ),
      get invalidated() {
        return isInvalid;
      },
    };
  }
}

const METHODS: Readonly<Record<ApplicationInputRequest['kind'], string>> = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

/** `Requests` removes `resultType` from results; the task library requires it. */
const COMPLETE = { resultType: 'complete' };

/** Accepts any object: the results of tasks are checked later, in the same place as all other results. */
const ANY_RESULT: RuntimeCodec<Partial<CallToolResult>> = {
  parse: (value) =>
    isRecord(value)
      ? { success: true, value: value as Partial<CallToolResult> }
      : { success: false, error: { message: 'the result is not an object' } as never },
};

function withoutType(result: Partial<CallToolResult>): Partial<CallToolResult> {
  const { resultType: _, ...rest } = result as Partial<CallToolResult> & { resultType?: unknown };
  return rest;
}

/** The library wraps errors of requests. */
function originOf(failure: unknown): unknown {
  for (let cause = failure; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof HostError || cause instanceof ServerFault || cause instanceof RequestAbortError)
      return cause;
  }
  return failure;
}

/** The time limits of a call that runs as a task, and its progress. */
class TaskLimits implements Disposable {
  readonly #controller = new AbortController();
  readonly #options: RequestOptions;
  readonly #timers: (NodeJS.Timeout | undefined)[];
  readonly #idle: NodeJS.Timeout | undefined;
  readonly #onAbort: () => void;
  #updates = 0;
  /** Why the call ended before its task. */
  reason: Error | undefined;

  constructor(server: string, tool: string, options: RequestOptions) {
    this.#options = options;
    const end = (reason: Error) => {
      this.reason ??= reason;
      this.#controller.abort(reason);
    };
    const limit = (ms: number | undefined, which: 'total' | 'idle') =>
      ms === undefined || ms === Number.POSITIVE_INFINITY
        ? undefined
        : startTimer(ms, () =>
            end(new HostError('timeout', server, formatTimeout(`tool "${tool}"`, which, ms))),
          );
    this.#idle = limit(options.idleTimeoutMs, 'idle');
    this.#timers = [limit(options.timeoutMs, 'total'), this.#idle];
    this.#onAbort = () =>
      end(new RequestAbortError('The request was aborted', { cause: options.signal?.reason }));
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal?.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  progressed({ statusMessage }: TaskView): void {
    this.#idle?.refresh();
    const message = statusMessage === undefined ? {} : { message: statusMessage };
    this.#options.onProgress?.({ progress: ++this.#updates, ...message });
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }
}
