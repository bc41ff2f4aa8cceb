import type { Client, Implementation, Progress, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Scope } from '../../base/scope.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import { AbortError } from '../../protocol/sdk-error.ts';
import { ANYTHING } from './anything.ts';
import { explain } from './explain.ts';
import { HostError } from './host-error.ts';
import { Signal } from './signal.ts';

/** How one call is made. */
export type CallOptions = {
  signal?: AbortSignal;
  /** The longest it may take in all; without it a call may take as long as it likes. */
  timeoutMs?: number;
  /** The longest it may stay silent; progress begins the time anew. */
  idleTimeoutMs?: number;
  onProgress?: (progress: Progress) => void;
  /** Goes with the request as `_meta`. */
  meta?: Record<string, unknown>;
};

/** A server that answers: what it says of itself, and what can be asked of it. */
export type Connection = {
  /** The key of the server's entry. */
  readonly name: string;
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  /** The last lines its process wrote to stderr, without secrets. */
  stderr(): readonly string[];
  /** Asks for a sign of life, by what its era has for that; rejects as a call does. */
  ping(signal: AbortSignal): Promise<void>;
  /** One page as the server sent it, unread: one bad tool must not cost the others. */
  listTools(cursor?: string, signal?: AbortSignal): Promise<unknown>;
  /** Rejects with a `HostError`, an `AbortError`, or the server's own JSON-RPC error. */
  callTool(
    name: string,
    args: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<Partial<CallToolResult>>;
  /** Any other request; what it gives is as the server sent it, and it rejects as a call does. */
  ask(method: string, params: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
  /** Hears of changes of the tools or prompts it offers. */
  onListChanged(listener: () => void): () => void;
  /** Hears that the transport met with something that is nobody's answer: a stream that broke, a process that complains. */
  onTrouble(listener: () => void): () => void;
  /** Hears of the end, whoever brought it about. */
  onClose(listener: () => void): () => void;
  close(): Promise<void>;
};

/** Wraps a client that is connected; `scope` is what closing it closes. */
export function connectionOf(
  name: string,
  client: Client,
  stderr: () => readonly string[],
  scope: Scope,
): Connection {
  const listChanged = new Signal();
  const trouble = new Signal();
  client.onerror = () => trouble.emit();
  const closed = new Signal();
  client.setNotificationHandler('notifications/tools/list_changed', () => listChanged.emit());
  client.setNotificationHandler('notifications/prompts/list_changed', () => listChanged.emit());
  let isClosed = client.transport === undefined;
  client.onclose = () => {
    isClosed = true;
    closed.emit();
  };
  const ask = async (method: string, params: Record<string, unknown>, options: CallOptions) => {
    const { signal, timeoutMs = LONGEST_MS, onProgress } = options;
    if (isClosed) throw new HostError('closed', name, 'the connection is closed');
    try {
      return await client.request({ method, params }, ANYTHING, {
        timeout: Math.min(timeoutMs, LONGEST_MS),
        ...(signal ? { signal } : {}),
        ...(onProgress ? { onprogress: onProgress } : {}),
      });
    } catch (failure) {
      if (signal?.aborted) throw new AbortError('The request was aborted', { cause: failure });
      throw explain(name, failure);
    }
  };
  let closing: Promise<void> | undefined;
  return {
    name,
    serverInfo: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities() ?? {},
    era: client.getProtocolEra() ?? 'legacy',
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    stderr,
    async ping(signal) {
      await ask('ping', {}, { signal });
    },
    listTools: (cursor, signal) =>
      ask('tools/list', cursor === undefined ? {} : { cursor }, {
        timeoutMs: LIST_MS,
        ...(signal ? { signal } : {}),
      }),
    async callTool(tool, args, options = {}) {
      const { meta } = options;
      try {
        const params = { name: tool, arguments: args, ...(meta ? { _meta: meta } : {}) };
        return (await ask('tools/call', params, options)) as Partial<CallToolResult>;
      } catch (failure) {
        if (!(failure instanceof HostError) || failure.code !== 'timeout') throw failure;
        const limit = sayTime(options.timeoutMs ?? LONGEST_MS);
        throw new HostError('timeout', name, `tool "${tool}" timed out after ${limit}`, {
          cause: failure,
        });
      }
    },
    ask: (method, params, options = {}) => ask(method, params, options),
    onListChanged: listChanged.on,
    onTrouble: trouble.on,
    onClose: closed.on,
    close() {
      closing ??= scope[Symbol.asyncDispose]();
      return closing;
    },
  };
}

function sayTime(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.floor(ms / 1000)}s`;
}

const LONGEST_MS = 2 ** 31 - 1;
const LIST_MS = 60_000;
