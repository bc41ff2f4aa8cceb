/** One block of an assistant message, before it has its id. */
export type ReplyBlock =
  | { readonly type: 'text'; readonly parts: readonly string[] }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: object; readonly id?: string }
  | { readonly type: 'raw'; readonly block: { readonly type: string } };

/** The reply of the scripted model to one request. */
export type Reply =
  | {
      readonly kind: 'message';
      readonly blocks: readonly ReplyBlock[];
      readonly usage?: ReplyUsage;
      readonly stopReason?: string;
    }
  | { readonly kind: 'error'; readonly status: number; readonly type: string; readonly message: string }
  /** Breaks off after so many events. */
  | { readonly kind: 'cut'; readonly reply: MessageReply; readonly events: number }
  | { readonly kind: 'after'; readonly ready: Promise<unknown>; readonly reply: Reply };

/** The usage that a reply reports; by default 10 input tokens and 5 output tokens. */
export type ReplyUsage = { readonly input_tokens: number; readonly output_tokens: number } & Readonly<
  Record<string, unknown>
>;

type MessageReply = Extract<Reply, { kind: 'message' }>;

/** The model says something and ends its turn; each part is streamed as a delta of its own. */
export function text(...parts: string[]): MessageReply {
  return { kind: 'message', blocks: [{ type: 'text', parts }] };
}

/** The model calls one tool; without an id it gets `toolu_<request>_<block>`, e.g. `toolu_0001_0`. */
export function toolUse(name: string, input: object, id?: string): MessageReply {
  return { kind: 'message', blocks: [{ type: 'tool_use', name, input, ...(id && { id }) }] };
}

/** A content block that the API sends whole, such as the result of a tool of the server. */
export function raw(block: { readonly type: string }): MessageReply {
  return { kind: 'message', blocks: [{ type: 'raw', block }] };
}

/** Several replies as the blocks of one assistant message, in order. */
export function together(...replies: MessageReply[]): MessageReply {
  return { kind: 'message', blocks: replies.flatMap((reply) => reply.blocks) };
}

/** The reply with another stop reason. */
export function stoppedBy(reply: MessageReply, stopReason: string): MessageReply {
  return { ...reply, stopReason };
}

/** The reply with another usage. */
export function withUsage(reply: MessageReply, usage: ReplyUsage): MessageReply {
  return { ...reply, usage };
}

/** The API refuses the request. Clients repeat refused requests, even after a 400; each one takes a reply. */
export function error(status: number, message: string, type = 'invalid_request_error'): Reply {
  return { kind: 'error', status, type, message };
}

/** The connection ends after so many events of the reply. */
export function cutOff(reply: MessageReply, events: number): Reply {
  return { kind: 'cut', reply, events };
}

/** The reply is withheld until the promise settles; one that never does is a model that hangs. */
export function after(ready: Promise<unknown>, reply: Reply): Reply {
  return { kind: 'after', ready, reply };
}
