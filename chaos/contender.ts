import type { ServerStatus } from '../src/entry/host.ts';

/** A faulty server, as passed to a contender. */
export type Target =
  | {
      kind: 'stdio';
      command: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
      /** Whether the annotations of its tools are trusted. */
      isTrusted?: boolean;
    }
  | {
      kind: 'http' | 'sse' | 'ws';
      url: string;
      headers?: Readonly<Record<string, string>>;
      /** A command that prints more headers, as a JSON object. */
      headersHelper?: string;
    };

/** Limits for every contender, in milliseconds. */
export type Limits = { connectMs: number };

export type CallOptions = {
  signal?: AbortSignal;
  /** The time between messages if `onProgress` is given, else the total time. */
  timeoutMs?: number;
  onProgress?: () => void;
};

/** The parts of a tool result that are checked. */
export type Result = {
  content?: readonly { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean;
};

/** One client with several servers, by name. */
export type Session = {
  /** Resolves once the server is connected and its tools are listed; rejects with why it is not. */
  ready(server: string): Promise<void>;
  /** The current names of its tools. */
  tools(server: string): Promise<string[]>;
  call(server: string, tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Result>;
  /** The status of each server, if the client has one. */
  status?(): Record<string, ServerStatus>;
  close(): Promise<void>;
};

/** A client under test. */
export type Contender = {
  /** Starts connecting to all of them; does not wait and does not throw. */
  open(targets: Readonly<Record<string, Target>>, limits: Limits): Session;
};
