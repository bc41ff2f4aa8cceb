import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import {
  INTERNAL,
  type RpcId,
  type RpcMessage,
  readRpc,
  rpcFailure,
  rpcResult,
} from '../../../protocol/json-rpc.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { openSession, type SdkServerEntry as ProgramEntry } from '../../../tool-server/sdk-server.ts';
import type { McpSession } from '../../../tool-server/session.ts';
import type {
  ConnectContext,
  Dialed,
  SdkPort,
  SdkServerEntry,
  ServerManifest,
} from '../../connection/connect-context.ts';
import { HostError } from '../../errors/host-error.ts';

/** Connects to a server object in this process, or to one of the program at the other end of the control channel. */
export async function dialInProcess(
  name: string,
  entry: SdkServerEntry,
  context: ConnectContext,
): Promise<Dialed> {
  if ('instance' in entry) return direct(name, entry);
  if (!context.openPort) {
    throw new HostError(
      'bad-config',
      name,
      'an in-process server requires a connected SDK program, but none is connected',
    );
  }
  const port = context.openPort(name);
  const transport = new ChannelTransport(entry.manifest ? replayed(port, entry.manifest) : port);
  return { transport, close: () => transport.close(), stderr: () => [] };
}

function direct(name: string, entry: SdkServerEntry): Dialed {
  const { assigns = {} } = entry;
  const transport = new SessionTransport((send) => {
    try {
      return openSession(entry as ProgramEntry, { server: name, assigns, send });
    } catch (cause) {
      throw new HostError('bad-config', name, messageOf(cause), { cause });
    }
  });
  return { transport, close: () => transport.close(), stderr: () => [] };
}

/** An MCP transport directly to a session in this process, without serialization. */
class SessionTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #open: (send: (message: RpcMessage) => void) => McpSession;
  #session: McpSession | undefined;
  #isClosed = false;

  constructor(open: (send: (message: RpcMessage) => void) => McpSession) {
    this.#open = open;
  }

  async start(): Promise<void> {
    this.#session = this.#open((message) => this.#receive(message));
  }

  /** Resolves at once; the response arrives as a message. */
  async send(message: JSONRPCMessage): Promise<void> {
    const session = this.#session;
    if (!session || this.#isClosed) throw new Error('the transport is closed');
    const answered = (answer: RpcMessage | undefined) => {
      if (answer) this.#receive(answer);
    };
    if (session.take) session.take(message, answered);
    else void session.receive(message).then(answered);
  }

  /** Ends this session only; the server may have others. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#session?.close();
    this.onclose?.();
  }

  /** Delivers asynchronously, so that `send` has returned before the response arrives. */
  #receive(message: RpcMessage): void {
    queueMicrotask(() => {
      if (!this.#isClosed) this.onmessage?.(message as JSONRPCMessage);
    });
  }
}

/** An MCP transport over a port, where every message is a request of the control channel. */
class ChannelTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #port: SdkPort;
  readonly #pending = new Map<RpcId, AbortController>();
  readonly #ended = new AbortController();
  #unlisten: (() => void) | undefined;

  constructor(port: SdkPort) {
    this.#port = port;
  }

  async start(): Promise<void> {
    this.#unlisten = this.#port.listen((message) => this.#receive(message));
  }

  /** Resolves at once for a request; the response arrives as a message. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#ended.signal.aborted) throw new Error('the transport is closed');
    const read = readRpc(message);
    if (read.kind === 'request') {
      void this.#request(message, read.id);
      return;
    }
    // A cancelled request gets no response, so it is no longer pending.
    if (read.kind === 'notification' && read.method === 'notifications/cancelled') {
      this.#pending.get(read.params.requestId as RpcId)?.abort();
    }
    await this.#port.send(message, this.#ended.signal);
  }

  async close(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#unlisten?.();
    for (const request of this.#pending.values()) request.abort();
    this.#pending.clear();
    this.onclose?.();
  }

  async #request(message: JSONRPCMessage, id: RpcId): Promise<void> {
    const request = new AbortController();
    this.#pending.set(id, request);
    const reply = await this.#port.send(message, request.signal).then(
      (it) => {
        const read = readRpc(it);
        return read.kind === 'response' && read.id === id
          ? read.message
          : rpcFailure(id, INTERNAL, 'the reply is not a JSON-RPC response to this request');
      },
      (failure: unknown) => rpcFailure(id, INTERNAL, messageOf(failure)),
    );
    this.#pending.delete(id);
    if (!request.signal.aborted) this.#receive(reply);
  }

  #receive(message: unknown): void {
    const read = readRpc(message);
    if (this.#ended.signal.aborted) return;
    if (read.kind === 'malformed') this.onerror?.(new Error(read.reason));
    else this.onmessage?.(message as JSONRPCMessage);
  }
}

/** A port that answers the handshake, and the first list of tools, from the manifest. */
export function replayed(port: SdkPort, { initializeResult, toolsListResult }: ServerManifest): SdkPort {
  let isListed = false;
  return {
    listen: port.listen,
    async send(message, signal) {
      const read = readRpc(message);
      if (read.kind === 'notification' && read.method === 'notifications/initialized') return undefined;
      if (read.kind === 'request' && read.method === 'initialize')
        return rpcResult(read.id, initializeResult);
      if (read.kind === 'request' && read.method === 'tools/list' && toolsListResult && !isListed) {
        isListed = true;
        return rpcResult(read.id, toolsListResult);
      }
      return port.send(message, signal);
    },
  };
}
