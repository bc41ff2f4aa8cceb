import type * as official from '@anthropic-ai/claude-agent-sdk';
import type { Scenario } from './scenario.ts';

/** The part of an SDK module namespace that the cases drive; the official package's types are the contract. */
export type Sdk = Pick<typeof official, 'query' | 'tool' | 'createSdkMcpServer' | 'startup' | 'AbortError'>;
export type Options = official.Options;
export type Query = official.Query;
export type UserMessage = official.SDKUserMessage;

/** One recording: the options and prompt given to `query()`, and what is done with the query. */
export interface WireCase {
  readonly name: string;
  readonly options?: (sdk: Sdk) => Options;
  readonly scenario?: Scenario;
  /** `hello` when omitted, or with `act` one streamed `hello` and an input held open until `act` is done. */
  readonly prompt?: string | (() => AsyncIterable<UserMessage>);
  /** Runs after the first result; what it resolves to is part of the recording. */
  readonly act?: (query: Query, sdk: Sdk) => Promise<unknown>;
  /** `startup` warms the process first and then asks it for the query. */
  readonly start?: 'query' | 'startup';
  /** `option` passes a small `env`; `inherited` leaves `env` out, so the process environment shows. */
  readonly environment?: 'option' | 'inherited';
  /** Variables set in this process while the case runs. */
  readonly ambient?: Readonly<Record<string, string>>;
  /** `hook` also records what a `spawnClaudeCodeProcess` callback is given. */
  readonly spawn?: 'default' | 'hook';
}

/** What one SDK put on the wire, with everything random or local to the machine replaced by a stable name. */
export interface Recording {
  readonly argv: readonly string[];
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: readonly string[];
  /** What was read (`>`), the replies and results an SDK waits for (`<`), and the `end` of stdin. */
  readonly order: readonly string[];
  readonly spawned: unknown;
  /** What the program saw: message types, the value of `act`, or the error it ended with. */
  readonly outcome: unknown;
}
