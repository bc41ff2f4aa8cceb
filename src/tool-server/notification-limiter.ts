import { Coalescer } from '../base/async/coalescer.ts';
import { pluralize } from '../base/text/display-text.ts';
import type { RpcMessage } from '../protocol/json-rpc.ts';

/**
 * Bounds the memory of a server that sends notifications faster than its user reads them. Only the latest progress of each
 * call, the latest update of each resource and one change of each list are kept; log messages are dropped and counted.
 * Everything else is always sent.
 */
export class NotificationLimiter {
  readonly #coalescer: Coalescer<RpcMessage>;
  #dropped = 0;
  #dropNotice: RpcMessage | undefined;

  /** A promise that `send` returns settles when there is room for more. */
  constructor(send: (message: RpcMessage) => unknown) {
    this.#coalescer = new Coalescer((message) => {
      if (message === this.#dropNotice) this.#dropped = 0;
      const room = send(message);
      return room instanceof Promise ? room : undefined;
    });
  }

  /** Settles when there is room for more; undefined if there is room now. */
  get room(): Promise<void> | undefined {
    return this.#coalescer.room;
  }

  send(message: RpcMessage): void {
    const method = 'method' in message && !('id' in message) ? message.method : undefined;
    if (method === 'notifications/message' && this.#coalescer.isFull) this.#dropLog(message);
    else if (method === 'notifications/progress') this.#coalescer.push(progressKey(message), message);
    else if (method === 'notifications/resources/updated')
      this.#coalescer.push(resourceKey(message), message);
    else if (method?.endsWith('/list_changed')) this.#coalescer.push(method, message);
    else this.#coalescer.send(message);
  }

  /** Sends the kept notifications before the response to a call. */
  flush(): void {
    this.#coalescer.flush();
  }

  #dropLog(message: RpcMessage): void {
    this.#dropped++;
    const { logger } = ('params' in message && message.params) || {};
    const data = `${pluralize(this.#dropped, 'log message')} dropped because the client reads too slowly`;
    this.#dropNotice = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'warning', ...(logger !== undefined && { logger }), data },
    };
    this.#coalescer.push('dropped-logs', this.#dropNotice);
  }
}

function progressKey(message: RpcMessage): string {
  const { progressToken } = ('params' in message && message.params) || {};
  return `progress ${typeof progressToken} ${String(progressToken)}`;
}

function resourceKey(message: RpcMessage): string {
  const { uri } = ('params' in message && message.params) || {};
  return `updated ${String(uri)}`;
}
