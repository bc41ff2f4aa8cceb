import { isRecord } from '../../base/json-value.ts';
import { CHANNEL, type ChannelPermissionRequest } from '../../protocol/mcp.ts';
import { SdkError } from '../../protocol/sdk-error.ts';

/** Attributes of a message; keys are identifiers. `id` identifies the message: a host delivers it once. */
export type ChannelMeta = Readonly<Record<string, string | number | boolean>>;

/** A host that stores messages confirms them with `ack`, or says with `nack` why it did not store one. */
export type ChannelReceipt = {
  readonly kind: 'ack' | 'nack';
  /** The id of the message: its `meta.id`, or the one that the host assigned. */
  readonly id: string | undefined;
  /** Why the message was not stored: `invalid`, `rate`, `quota`, `duplicate` or `storage`. */
  readonly reason?: string;
};

/** The answer to a permission request. */
type ChannelDecision = 'allow' | 'deny';

/** The option `channel` of a tool server, which lets it push messages into conversations. */
export type ChannelOptions = {
  /** Called when a host has stored a message, or refused it. Other hosts send no receipts. */
  onReceipt?(receipt: ChannelReceipt): void;
  /**
   * Called when an agent needs permission for a call. The request is answered with the decision; undefined leaves
   * the answer to others. `signal` aborts when another answer was given. With `meta`, the answer says who gave it: a
   * channel with a list of senders accepts only theirs.
   */
  onPermissionRequest?(
    request: ChannelPermissionRequest,
    context: { readonly signal: AbortSignal },
  ): Promise<ChannelDecision | { behavior: ChannelDecision; meta: ChannelMeta } | undefined>;
};

/** Sends the notification of a channel to one client. */
export type ChannelPort = {
  /** False for clients that have no stream for messages outside of requests. */
  readonly acceptsPush: boolean;
  /** Identifies the verified caller; undefined if the server checks no access tokens. */
  readonly caller: string | undefined;
  notify(method: string, params: Record<string, unknown>): void;
};

/** The channel of a tool server: sends messages to all clients, and answers their permission requests. */
export class ToolServerChannel {
  readonly #server: string;
  readonly #options: ChannelOptions;
  readonly #ports: () => Iterable<ChannelPort>;
  readonly #requests = new Set<OpenRequest>();

  constructor(server: string, options: ChannelOptions, ports: () => Iterable<ChannelPort>) {
    this.#server = server;
    this.#options = options;
    this.#ports = ports;
  }

  /** What the server declares. */
  get capabilities(): Record<string, object> {
    return {
      [CHANNEL.capability]: {},
      ...(this.#options.onPermissionRequest && { [CHANNEL.permissionCapability]: {} }),
    };
  }

  /** Sends a message to every connected client. Rejects if no client is connected. */
  async send(content: string, meta: ChannelMeta = {}): Promise<void> {
    const params = channelParams(this.#server, content, meta);
    const ports = [...this.#ports()].filter(({ acceptsPush }) => acceptsPush);
    if (ports.length === 0) {
      throw new SdkError(
        'not-connected',
        `server "${this.#server}": the channel message was not sent, because no client is connected; send it again later`,
      );
    }
    for (const port of ports) port.notify(CHANNEL.message, params);
  }

  /** Takes a notification of a client; false if it is not about channels. */
  receive(method: string, params: Readonly<Record<string, unknown>>, from: ChannelPort): boolean {
    switch (method) {
      case CHANNEL.ack:
      case CHANNEL.nack:
        this.#options.onReceipt?.(receiptOf(method, params));
        return true;
      case CHANNEL.permissionRequest:
        void this.#answer(params, from);
        return true;
      case CHANNEL.permissionSettled:
        this.#settle(String(params.request_id), scopeOf(from));
        return true;
      default:
        return false;
    }
  }

  async #answer(params: Readonly<Record<string, unknown>>, from: ChannelPort): Promise<void> {
    const { request_id, tool_name, description, input_preview } = params;
    const request = {
      request_id: String(request_id),
      tool_name: String(tool_name),
      description: String(description ?? ''),
      input_preview: String(input_preview ?? ''),
    };
    const settled = new AbortController();
    const open = { id: request.request_id, scope: scopeOf(from), settled };
    this.#requests.add(open);
    try {
      const answer = await this.#options.onPermissionRequest?.(request, { signal: settled.signal });
      const { behavior, meta } = isRecord(answer) ? answer : { behavior: answer };
      if (behavior !== 'allow' && behavior !== 'deny') return;
      const isAsker = (it: ChannelPort) => it.acceptsPush && it.caller === from.caller;
      const ports = from.acceptsPush ? [from] : [...this.#ports()].filter(isAsker);
      const params = { request_id: request.request_id, behavior, ...(meta && { meta }) };
      for (const port of ports) port.notify(CHANNEL.permission, params);
    } catch {
      // A handler that fails does not answer: the other ways to answer remain.
    } finally {
      this.#requests.delete(open);
    }
  }

  #settle(id: string, scope: unknown): void {
    for (const open of this.#requests) if (open.id === id && open.scope === scope) open.settled.abort();
  }
}

/** A permission request that is being answered. */
type OpenRequest = { readonly id: string; readonly scope: unknown; readonly settled: AbortController };

/** The sender that may settle a request: the session that sent it; without sessions, the same caller. */
function scopeOf(from: ChannelPort): unknown {
  return from.acceptsPush ? from : from.caller;
}

/** The parameters of a message; throws if the values are not a message. */
export function channelParams(server: string, content: unknown, meta: unknown): Record<string, unknown> {
  if (typeof content !== 'string')
    throw new SdkError('bad-option', `server "${server}": the content of a channel message must be a string`);
  if (!isRecord(meta))
    throw new SdkError('bad-option', `server "${server}": the meta of a channel message must be an object`);
  return Object.keys(meta).length === 0 ? { content } : { content, meta };
}

function receiptOf(method: string, { id, reason }: Readonly<Record<string, unknown>>): ChannelReceipt {
  return {
    kind: method === CHANNEL.ack ? 'ack' : 'nack',
    id: typeof id === 'string' ? id : undefined,
    ...(typeof reason === 'string' && { reason }),
  };
}

/** The error of `ctx.channel()` in a server without the option. */
export function noChannelError(server: string): SdkError {
  return new SdkError(
    'bad-server',
    `server "${server}" cannot push messages: set the option "channel" of the server`,
  );
}
