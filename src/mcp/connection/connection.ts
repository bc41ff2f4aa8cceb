import type { Client, Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Scope } from '../../base/async/scope.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import type { ListKind, Notifications } from './notifications.ts';
import type { RequestOptions, Requests } from './requests.ts';
import type { RequestHandler } from './server-requests.ts';
import { StatelessRequests } from './stateless-requests.ts';
import type { Wire } from './wire.ts';

export type { ListKind } from './notifications.ts';
export type { RequestOptions } from './requests.ts';

/** A server that answers: what it says of itself, and what can be asked of it. */
export type Connection = {
  /** The key of the server's entry. */
  readonly name: string;
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  /** Arguments marked with `x-mcp-header` travel as headers too: a tool that marks them wrongly cannot be called. */
  readonly mirrorsParams?: boolean;
  /** The last lines of the process's stderr, with secrets masked. */
  stderr(): readonly string[];
  /** When its last message came, answers and progress included, by `performance.now()`; 0 if none did. */
  lastMessageAt(): number;
  /** Whether it works on a call: who works may have no time for anything else. */
  hasPendingCall(): boolean;
  /** Asks for a sign of life, by what its era has for that; rejects as a call does. */
  ping(signal: AbortSignal): Promise<void>;
  /** One page as the server sent it, unread: one bad tool must not cost the others. */
  listTools(cursor?: string, signal?: AbortSignal): Promise<unknown>;
  /** Rejects with a `HostError`, an `AbortError`, or the server's own JSON-RPC error. */
  callTool(
    name: string,
    args: Record<string, unknown>,
    options?: RequestOptions,
  ): Promise<Partial<CallToolResult>>;
  /** Any other request; what it gives is as the server sent it, and it rejects as a call does. */
  request(method: string, params: Record<string, unknown>, options?: RequestOptions): Promise<unknown>;
  /** Hears of changes of the tools, prompts or resources it offers. */
  onListChanged(listener: (kind: ListKind) => void): () => void;
  /** Hears every notification, known or not, progress of calls excepted. */
  onNotification?(listener: (method: string, params: Readonly<Record<string, unknown>>) => void): () => void;
  /** Hears that the transport met with something that is nobody's answer: a stream that broke, a process that complains. */
  onTransportError(listener: () => void): () => void;
  /** Reports the end of the connection, whichever side closed it. */
  onClose(listener: () => void): () => void;
  close(): Promise<void>;
};

/** What a connection is made of. */
export type Parts = {
  readonly client: Client;
  readonly wire: Wire;
  readonly requests: Requests;
  readonly notices: Notifications;
  readonly answers: Readonly<Record<string, RequestHandler>>;
  readonly stderr: () => readonly string[];
  /** What closing it closes. */
  readonly scope: Scope;
};

const LIST_MS = 60_000;

/** Wraps a client that is connected. */
export function connectionOf(name: string, parts: Parts): Connection {
  const { client, wire, requests, notices, answers, stderr, scope } = parts;
  const era = client.getProtocolEra() ?? 'legacy';
  const mirrors = era === 'modern' && wire.hasPerRequestStream;
  const requester = era === 'modern' ? new StatelessRequests(name, requests, { answers, mirrors }) : requests;
  let closing: Promise<void> | undefined;
  return {
    name,
    serverInfo: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities() ?? {},
    era,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    mirrorsParams: mirrors,
    stderr,
    lastMessageAt: () => wire.lastMessageAt,
    hasPendingCall: () => requests.hasPendingCall,
    async ping(signal) {
      await requester.request(
        { method: era === 'modern' ? 'server/discover' : 'ping', params: {} },
        { signal },
      );
    },
    listTools: (cursor, signal) =>
      requester.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        { timeoutMs: LIST_MS, ...(signal && { signal }) },
      ),
    callTool: (tool, args, options = {}) =>
      requester.request({ method: 'tools/call', params: { name: tool, arguments: args } }, options),
    request: (method, params, options = {}) => requester.request({ method, params }, options),
    onListChanged: notices.listChanged.on,
    onNotification: notices.all.on,
    onTransportError: notices.transportError.on,
    onClose: notices.closed.on,
    close() {
      // Whoever comes from now on comes too late, though the transport may take its time to end.
      requests.end();
      closing ??= scope[Symbol.asyncDispose]();
      return closing;
    },
  };
}
