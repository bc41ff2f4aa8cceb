import type { ServerStatus } from '../src/entry/host.ts';

/** A faulty server as a contender is told of it. */
export type Target =
  | {
      kind: 'stdio';
      command: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
      /** What it says of its tools may be believed. */
      isTrusted?: boolean;
    }
  | {
      kind: 'http' | 'sse' | 'ws';
      url: string;
      headers?: Readonly<Record<string, string>>;
      /** A command that prints more headers, as a JSON object. */
      headersHelper?: string;
    };

/** Limits every contender gets alike, in milliseconds. */
export type Limits = { connectMs: number };

export type CallOptions = {
  signal?: AbortSignal;
  /** The longest silence if `onProgress` is given, the longest time in all if not. */
  timeoutMs?: number;
  onProgress?: () => void;
};

/** What of a tool's result the judges look at. */
export type Result = {
  content?: readonly { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean;
};

/** One client at work, as its user drives it; several servers at once, by name. */
export type Session = {
  /** Resolves once the server is connected and its tools are listed; rejects with why it is not. */
  ready(server: string): Promise<void>;
  /** The names of its tools, as they are now. */
  tools(server: string): Promise<string[]>;
  call(server: string, tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Result>;
  /** How each server is, where the client can tell. */
  status?(): Record<string, ServerStatus>;
  close(): Promise<void>;
};

/** A client that is put before faulty servers. */
export type Contender = {
  /** Begins to connect to all of them; nothing here waits or throws. */
  open(targets: Readonly<Record<string, Target>>, limits: Limits): Session;
};
