import type { Client, Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Scope } from '../../base/async/scope.ts';
import type { CallToolResult, LogLevel } from '../../protocol/mcp.ts';
import type { ListKind, Notifications } from './notifications.ts';
import type { RequestOptions, Requests } from './requests.ts';
import type { RequestHandler } from './server-requests.ts';
import { StatelessRequests } from './stateless-requests.ts';
import { TaskCalls, taskGeneration } from './task-calls.ts';
import type { Wire } from './wire.ts';

export type { ListKind } from './notifications.ts';
export type { RequestOptions } from './requests.ts';

/** A connected server: what it reported about itself, and its requests. */
export type Connection = {
  /** The key of the server's entry. */
  readonly name: string;
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  /** Arguments marked with `x-mcp-header` are also sent as headers; a tool with invalid marks cannot be called. */
  readonly mirrorsParams?: boolean;
  /** The last lines of the process's stderr, with secrets masked. */
  stderr(): readonly string[];
  /** When the last message arrived, including progress, by `performance.now()`; 0 if none did. */
  lastMessageAt(): number;
  /** Whether a call is pending; a busy server may not answer health checks. */
  hasPendingCall(): boolean;
  /** Health check with the request that the era has for it; rejects as a call does. */
  ping(signal: AbortSignal): Promise<void>;
  /** One page, unparsed, so that one invalid tool does not affect the others. */
  listTools(cursor?: string, signal?: AbortSignal): Promise<unknown>;
  /** Rejects with a `HostError`, an `AbortError`, or the server's own JSON-RPC error. */
  callTool(
    name: string,
    args: Record<string, unknown>,
    options?: RequestOptions,
  ): Promise<Partial<CallToolResult>>;
  /** Any other request; resolves with the unparsed result and rejects as a call does. */
  request(method: string, params: Record<string, unknown>, options?: RequestOptions): Promise<unknown>;
  /** Passes an elicitation request to the user; undefined if the client does not support it. */
  readonly elicit?: RequestHandler | undefined;
  /** Requests log messages of at least this level, if the server has logs. Never rejects. */
  setLogLevel(level: LogLevel): Promise<void>;
  /** Sends a notification, if the connection is open. */
  notify(method: string, params: Readonly<Record<string, unknown>>): void;
  /** Called after changes of the tools, prompts or resources. */
  onListChanged(listener: (kind: ListKind) => void): () => void;
  /** Called for every notification except progress of calls. */
  onNotification?(listener: (method: string, params: Readonly<Record<string, unknown>>) => void): () => void;
  /** Called for transport errors that do not belong to a request, such as a broken stream. */
  onTransportError(listener: () => void): () => void;
  /** Reports the end of the connection, whichever side closed it. */
  onClose(listener: () => void): () => void;
  close(): Promise<void>;
};

/** The parts of a connection. */
export type Parts = {
  readonly client: Client;
  readonly wire: Wire;
  readonly requests: Requests;
  readonly notices: Notifications;
  readonly answers: Readonly<Record<string, RequestHandler>>;
  readonly stderr: () => readonly string[];
  /** Closed with the connection. */
  readonly scope: Scope;
};

const LIST_MS = 60_000;
const SET_LEVEL_MS = 10_000;

/** Wraps a connected client. */
export function connectionOf(name: string, parts: Parts): Connection {
  const { client, wire, requests, notices, answers, stderr, scope } = parts;
  const era = client.getProtocolEra() ?? 'legacy';
  const mirrors = era === 'modern' && wire.hasPerRequestStream;
  const capabilities = client.getServerCapabilities() ?? {};
  const generation = taskGeneration(capabilities, era);
  const requester =
    era === 'modern'
      ? new StatelessRequests(name, requests, { answers, mirrors, acceptsTasks: generation === 'v2' })
      : requests;
  const tasks =
    generation && new TaskCalls({ server: name, generation, capabilities, requester, notices, answers });
  let closing: Promise<void> | undefined;
  return {
    name,
    serverInfo: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities,
    era,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    mirrorsParams: mirrors,
    elicit: answers['elicitation/create'],
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
    callTool: (tool, args, { taskSupport, ...options } = {}) =>
      tasks?.handles(taskSupport)
        ? tasks.call(tool, args, options)
        : requester.request({ method: 'tools/call', params: { name: tool, arguments: args } }, options),
    request: (method, params, options = {}) => requester.request({ method, params }, options),
    async setLogLevel(level) {
      // In the stateless protocol, each request names the level.
      if (era === 'modern' || capabilities.logging === undefined) return;
      const question = { method: 'logging/setLevel', params: { level } };
      await requests.request(question, { timeoutMs: SET_LEVEL_MS }).catch(() => {});
    },
    notify: (method, params) => requests.notify(method, params),
    onListChanged: notices.listChanged.on,
    onNotification: notices.all.on,
    onTransportError: notices.transportError.on,
    onClose: notices.closed.on,
    close() {
      // Further requests fail at once, even if the transport takes time to close.
      requests.end();
      closing ??= scope[Symbol.asyncDispose]();
      return closing;
    },
  };
}
