/** The lists a server keeps. */
export type CatalogueList = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** Something in a list that is not as it should be; everything else that was listed is offered. */
export type DiscoveryDiagnostic = {
  readonly server: string;
  readonly list: CatalogueList;
  /** The entry's name, or its place in the list when it has none; absent if the fault is the list's. */
  readonly entry?: string;
  readonly fault: string;
  /** `kept`: it is offered without what was wrong; `set-aside`: it is not offered, and this is the only word on it; `list`: it is no single entry. */
  readonly outcome: 'kept' | 'set-aside' | 'list';
};

/** One list of a server, read to its end: every entry is an item or set aside by one diagnostic. */
export type Discovered<T> = {
  readonly items: readonly T[];
  readonly diagnostics: readonly DiscoveryDiagnostic[];
  /** How long the server says the list holds, in milliseconds. */
  readonly ttlMs?: number;
  /** Why a later page could not be had: what came before it is here, and an older list may be the better one. */
  readonly failure?: unknown;
};

/** What became of one entry: an item, with what was mended in it, or the fault that makes it unusable. */
export type ReadEntry<T> =
  | { readonly item: T; readonly name: string; readonly mended: readonly string[] }
  | { readonly name?: string; readonly fault: string };

/** A diagnostic in one line; the server's name is left to whoever shows it. */
export function sayDiagnostic({ list, entry, fault, outcome }: DiscoveryDiagnostic): string {
  if (entry === undefined) return fault;
  const text = `${NOUNS[list]} ${JSON.stringify(entry)}: ${fault}`;
  return outcome === 'set-aside' ? `${text}; it is not offered` : text;
}

/** What one entry of each list is called. */
export const NOUNS: Readonly<Record<CatalogueList, string>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resource template',
};
