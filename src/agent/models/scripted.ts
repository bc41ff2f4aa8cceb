import { type Model, type ModelEvent, ModelFault, type ModelLimits, type ModelRequest } from './model.ts';
import { type MessageReply, replyEvents } from './reply-events.ts';

/** What a scripted model answers to one request: a message, or a fault. */
export type ScriptedReply = MessageReply | { readonly fault: ModelFault };

/** Replies in order, or a function of the request and its number (from 1). */
export type ModelScript =
  | readonly ScriptedReply[]
  | ((request: ModelRequest, n: number) => ScriptedReply | Promise<ScriptedReply>);

/** A model that says what a script tells it to, and keeps the requests it got. */
export interface ScriptedModel extends Model {
  readonly requests: readonly ModelRequest[];
}

/** The model says something; each part is streamed as a delta of its own. */
export function text(...parts: string[]): MessageReply {
  return { blocks: [{ type: 'text', parts }] };
}

/** The model thinks, which is worth something only together with another reply. */
export function thinking(thought: string, signature = 'scripted'): MessageReply {
  return { blocks: [{ type: 'thinking', thinking: thought, signature }] };
}

/** The model calls one tool; a string is streamed as the input's JSON as it stands, so it may be broken. */
export function toolUse(name: string, input: object | string = {}, id?: string): MessageReply {
  return { blocks: [{ type: 'tool_use', name, input, ...(id !== undefined && { id }) }] };
}

/** Several replies as the blocks of one message, in order; the last stop reason and usage that are given count. */
export function together(...replies: MessageReply[]): MessageReply {
  return Object.assign({}, ...replies, { blocks: replies.flatMap((reply) => reply.blocks) });
}

/** The model gives no reply but this fault. */
export function fails(fault: ModelFault): ScriptedReply {
  return { fault };
}

const LIMITS: ModelLimits = { toolName: 128, contextTokens: 200_000, outputTokens: 32_000 };

/** Deterministic and offline: the same script gives the same events, ids included. */
export function scriptedModel(
  script: ModelScript,
  options: { name?: string; limits?: Partial<ModelLimits> } = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  const replyTo = (request: ModelRequest, n: number) => {
    if (typeof script === 'function') return script(request, n);
    return script[n - 1] ?? fails(new ModelFault('bad-request', `The script has no reply for request ${n}`));
  };
  return {
    name: options.name ?? 'scripted',
    limits: { ...LIMITS, ...options.limits },
    requests,
    async *stream(request): AsyncGenerator<ModelEvent> {
      request.signal.throwIfAborted();
      // The caller goes on adding to its conversation; what was sent is what it held now.
      const n = requests.push({ ...request, messages: [...request.messages] });
      const reply = await unlessAborted(replyTo(request, n), request.signal);
      if ('fault' in reply) throw reply.fault;
      for (const event of replyEvents(reply, n, request.model)) {
        request.signal.throwIfAborted();
        yield event;
      }
    },
  };
}

async function unlessAborted<T>(pending: T | Promise<T>, signal: AbortSignal): Promise<T> {
  if (!(pending instanceof Promise)) return pending;
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([pending, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
