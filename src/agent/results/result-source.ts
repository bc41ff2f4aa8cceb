import { MOST_TOKENS, type ResultLimit, resultLimit } from './limit.ts';
import type { ResultStore } from './result-store.ts';

/** What a session does with results: how much a model is given, and where the rest goes. */
export type ResultKeeping = {
  readonly store: ResultStore;
  /** Of one result, where its tool says nothing else. */
  readonly maxTokens: number;
  /** Whether a text that is too long goes to a file; if not, it is cut. */
  readonly hasFiles: boolean;
  /** Whether the rules of the moment let a model read what is stored. */
  mayRead(): boolean;
};

/** The same for one agent. */
export type ResultPolicy = ResultKeeping & {
  /** Whether the agent has the built-in tool; without `Read`, a file would be no use to it. */
  canUse(tool: string): boolean;
};

/** Where one result comes from, and what becomes of what a model cannot take. */
export type ResultSource = ResultPolicy & {
  /** The tool's name as the model knows it. */
  readonly name: string;
  /** The server's key. */
  readonly server: string;
  readonly limit: ResultLimit;
};

export function keepResults(
  store: ResultStore,
  {
    maxTokens = MOST_TOKENS,
    hasFiles = true,
    mayRead = () => true,
  }: Partial<Omit<ResultKeeping, 'store'>> = {},
): ResultKeeping {
  return { store, maxTokens, hasFiles, mayRead };
}

/** `meta` is that of the tool's definition, which may ask for more room. */
export function resultSource(
  policy: ResultPolicy,
  from: Pick<ResultSource, 'name' | 'server'>,
  meta?: Readonly<Record<string, unknown>>,
): ResultSource {
  const { name, server } = from;
  return { ...policy, name, server, limit: resultLimit(meta, policy.maxTokens) };
}
