import { REPLIES_LATER, type Reply, type ServedRequest } from '../../control/channel.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import {
  METHOD_NOT_FOUND,
  type RpcMessage,
  readRpc,
  rpcFailure,
  rpcResult,
} from '../../protocol/json-rpc.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import type { CallObserver } from '../../tool-server/context.ts';
import { failedResult } from '../../tool-server/result.ts';
import { openSession, type SdkServerEntry } from '../../tool-server/sdk-server.ts';
import type { McpSession, RpcAnswer } from '../../tool-server/session.ts';

/** The body of the acknowledgement of a notification, which has no response of its own (C10). */
const ACKNOWLEDGED: Frame = { mcp_response: { jsonrpc: '2.0', result: {} } };

export type BridgeOptions = {
  readonly assigns: object;
  /** Sends a notification or request of a server to the agent. A returned promise settles when there is room for more. */
  send(server: string, message: RpcMessage): unknown;
  readonly observer?: CallObserver | undefined;
};

/** Routes each `mcp_message` of the agent to a session of the named server in this process (R3, R45). */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #sessions = new Map<string, McpSession>();
  readonly #entries = new Map<string, SdkServerEntry>();
  #closed = false;

  constructor(servers: ReadonlyMap<string, SdkServerEntry>, options: BridgeOptions) {
    this.#options = options;
    this.set(servers);
  }

  /** Replaces the servers, all or none; an unchanged server keeps its session. Does nothing once closed. */
  set(servers: ReadonlyMap<string, SdkServerEntry>): void {
    if (this.#closed) return;
    const added = [...servers].filter(([key, entry]) => this.#entries.get(key) !== entry);
    const opened = this.#open(added);
    for (const [key, session] of this.#sessions) {
      if (servers.get(key) === this.#entries.get(key)) continue;
      session.close();
      this.#sessions.delete(key);
      this.#entries.delete(key);
    }
    for (const [key, entry] of added) this.#entries.set(key, entry);
    for (const [key, session] of opened) this.#sessions.set(key, session);
  }

  #open(entries: readonly (readonly [string, SdkServerEntry])[]): Map<string, McpSession> {
    const opened = new Map<string, McpSession>();
    try {
      for (const [key, entry] of entries) {
        const port = {
          server: key,
          assigns: entry.assigns ?? this.#options.assigns,
          send: (message: RpcMessage) => this.#options.send(key, message),
          observer: this.#options.observer,
        };
        opened.set(key, openSession(entry, port));
      }
      return opened;
    } catch (fault) {
      for (const session of opened.values()) session.close();
      throw fault;
    }
  }

  session(key: string): McpSession | undefined {
    return this.#sessions.get(key);
  }

  /** Both spellings of the server's member are read (C4). An unknown server is a JSON-RPC error with the request's id. */
  serve(body: Frame, served: ServedRequest): Reply | Promise<Reply> {
    const key = body.server_name ?? body.serverName;
    const session = this.#sessions.get(key as string);
    if (!session) return unknownServer(key, body.message);
    if (!session.take) return session.receive(body.message).then(carry);
    session.take(body.message, (answer) => served.reply(carry(answer)));
    return REPLIES_LATER;
  }

  /** The response to a call whose result is not serializable: an error result with the reason. */
  replace(body: Frame, cause: unknown): Frame | undefined {
    const read = readRpc(body.message);
    if (read.kind !== 'request') return undefined;
    const fault = failedResult(`The tool's result cannot be serialized as JSON: ${messageOf(cause)}`);
    return { mcp_response: rpcResult(read.id, fault) };
  }

  close(): void {
    this.#closed = true;
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
    this.#entries.clear();
  }
}

function carry(answer: RpcAnswer): Frame {
  return answer ? { mcp_response: answer } : ACKNOWLEDGED;
}

function unknownServer(key: unknown, message: unknown): Frame {
  const read = readRpc(message);
  const name = typeof key === 'string' ? key : JSON.stringify(key);
  if (read.kind === 'request' || (read.kind === 'malformed' && read.id !== undefined)) {
    return { mcp_response: rpcFailure(read.id as string, METHOD_NOT_FOUND, `Server '${name}' not found`) };
  }
  throw new SdkError('bad-server', `SDK MCP server not found: ${name}`);
}
