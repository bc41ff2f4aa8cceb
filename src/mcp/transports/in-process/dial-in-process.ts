import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { RpcMessage } from '../../../protocol/json-rpc.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { openSession, type SdkServerEntry as ProgramEntry } from '../../../tool-server/sdk-server.ts';
import type { McpSession } from '../../../tool-server/session.ts';
import type { ConnectContext, Dialed, SdkServerEntry } from '../../connection/connect-context.ts';
import { HostError } from '../../errors/host-error.ts';
import { ChannelTransport, replayed } from './channel-transport.ts';

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
