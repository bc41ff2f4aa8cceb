import type { JSONRPCMessage, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../../../base/json-value.ts';

type Fetch = typeof fetch;
type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * Sends requests of a session without the official transport, which validates each message with several schemas and joins
 * two signals per request. Only the common case is handled here: a response of one JSON message. For any other outcome
 * the official transport takes over, and `transportFetch` passes it the response that has already arrived.
 */
export class DirectPost {
  readonly #url: URL;
  readonly #fetch: Fetch;
  /** Outcomes that the official transport is about to request, by request body. */
  readonly #outcomes = new Map<string, () => Promise<Response>>();

  constructor(url: URL, fetch: Fetch) {
    this.#url = url;
    this.#fetch = fetch;
  }

  /** The `fetch` of the official transport. */
  readonly transportFetch: Fetch = (input, init) => {
    const outcome = typeof init?.body === 'string' ? this.#outcomes.get(init.body) : undefined;
    return outcome === undefined ? this.#fetch(input, init) : outcome();
  };

  /** The official transport with another `send`. */
  wrap(transport: StreamableHTTPClientTransport): Transport {
    const send = transport.send.bind(transport);
    transport.send = async (message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions) => {
      if (!isPlainRequest(message, options)) return await send(message, options);
      const body = JSON.stringify(message);
      const outcome = await this.#post(body, transport, options?.requestSignal);
      if (isRecord(outcome)) return transport.onmessage?.(outcome as JSONRPCMessage);
      this.#outcomes.set(body, outcome);
      try {
        await send(message, options);
      } finally {
        this.#outcomes.delete(body);
      }
    };
    return transport;
  }

  /** The response, or the outcome for the official transport. */
  async #post(
    body: string,
    { sessionId, protocolVersion }: StreamableHTTPClientTransport,
    signal: AbortSignal | undefined,
  ): Promise<Record<string, unknown> | (() => Promise<Response>)> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
      ...(protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }),
    };
    try {
      const response = await this.#fetch(this.#url, {
        method: 'POST',
        headers,
        body,
        signal: signal ?? null,
      });
      const type = response.headers.get('content-type');
      if (response.status === 200 && response.body === null && type === 'application/json') {
        const message: unknown = await response.json();
        if (isRecord(message)) return message;
      }
      return () => Promise.resolve(response);
    } catch (failure) {
      return () => Promise.reject(failure);
    }
  }
}

/** A request in a session; stateless requests and the handshake have their own headers. */
function isPlainRequest(
  message: JSONRPCMessage | JSONRPCMessage[],
  options: SendOptions,
): message is JSONRPCMessage {
  if (Array.isArray(message) || !('method' in message && 'id' in message)) return false;
  if (message.method === 'initialize' || options?.resumptionToken !== undefined) return false;
  return options?.headers === undefined && message.params?._meta?.[VERSION_CLAIM] === undefined;
}

const VERSION_CLAIM = 'io.modelcontextprotocol/protocolVersion';
