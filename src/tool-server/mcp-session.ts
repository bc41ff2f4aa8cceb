import type { RpcMessage, RpcResponse } from '../protocol/json-rpc.ts';
import type { LogLevel } from '../protocol/mcp.ts';
import type { CallObserver } from './observer.ts';

/** How a session reaches its user, and what it was attached with. */
export type SessionPort = {
  /** The key under which the user knows the server. */
  readonly server: string;
  readonly assigns: object;
  /** Carries notifications to the user; must not throw. A promise it gives settles when there is room for more. */
  send(message: RpcMessage): unknown;
  onLog?(level: LogLevel, data: unknown): void;
  readonly observer?: CallObserver | undefined;
};

/** What a message is answered with, if it is one that is answered. */
export type RpcAnswer = RpcResponse | undefined;

/** Every MCP server behind a link is spoken to through this, ours or a foreign one. */
export interface McpSession {
  /** Takes one message. A request gives its answer; a notification or a response gives nothing. Never rejects. */
  receive(message: unknown): Promise<RpcAnswer>;
  /** The same without a promise, where a session can: `answer` is called exactly once and must not throw. */
  take?(message: unknown, answer: (response: RpcAnswer) => void): void;
  close(): void;
}
