import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { isEqualJson, isRecord } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { ConnectContext, ServerEntry } from '../connection/connect-context.ts';
import { eraKey } from '../connection/protocol-era.ts';
import { UniqueWarnings } from '../connection/warnings.ts';
import { type Discovered, formatDiagnostic } from '../discovery/read-list.ts';
import { filterTools, type ToolFilter, toolFilterOf, unmatchedPatterns } from '../discovery/tool-filter.ts';
import { sortedJson } from './configure.ts';
import type { Listing } from './list-refresh.ts';
import { isBusy, type ServerState } from './server-state.ts';
import type { Offer } from './server-status.ts';
import type { ServerListener } from './servers-options.ts';

/** What a server offers. A quick restart does not shake it: it goes when the server stays away for a while. */
export class OfferedTools {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #choice: ToolFilter;
  readonly #listener: Pick<ServerListener, 'tools'>;
  readonly #warnings: UniqueWarnings;
  /** All that it lists; what is offered is made of it. */
  #listed: readonly ListedTool[] = [];
  #offer: Offer | undefined;
  #isVerified = false;
  #stopGrace: (() => void) | undefined;

  constructor(
    { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
    entry: ServerEntry,
    listener: Pick<ServerListener, 'tools' | 'warning'>,
  ) {
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#choice = toolFilterOf(entry);
    this.#listener = listener;
    this.#warnings = new UniqueWarnings((message, subject) => listener.warning(message, subject));
  }

  get offer(): Offer | undefined {
    return this.#offer;
  }

  /** Whether the server itself has listed it, since it was first dialled. */
  get isVerified(): boolean {
    return this.#isVerified;
  }

  /** What is the same as before stays the very same, and nobody hears of it. */
  take({ tools, prompts }: Listing): void {
    for (const diagnostic of [...tools.diagnostics, ...prompts.diagnostics]) {
      const { server: _, ...found } = diagnostic;
      this.#warnings.report(formatDiagnostic(diagnostic), { kind: 'list', ...found });
    }
    const names = tools.items.map(({ name }) => name);
    for (const message of unmatchedPatterns(names, this.#choice)) this.#warnings.report(message);
    this.#isVerified = true;
    this.#put(tools.items, reuseUnchanged(this.#offer?.prompts ?? [], prompts.items));
  }

  /** What it listed in an earlier life: it stands in for the first list. */
  assume(tools: readonly ListedTool[]): void {
    if (!this.#isVerified && this.#offer === undefined && tools.length > 0) this.#put(tools, []);
  }

  follow(state: ServerState): void {
    if (state.kind === 'connected') this.end();
    // What is only assumed stands for the server that is being dialled.
    else if (!this.#isVerified && isBusy(state)) return;
    else if (isPermanentlyGone(state) || this.#graceMs === 0) this.#drop();
    else if (this.#offer) {
      this.#stopGrace ??= this.#clock.after(this.#graceMs, () => this.#drop(), 'background');
    }
  }

  /** Waits for nothing any more. */
  end(): void {
    this.#stopGrace?.();
    this.#stopGrace = undefined;
  }

  #put(listed: readonly ListedTool[], prompts: Offer['prompts']): void {
    const before = this.#offer;
    const kept = reuseUnchanged(this.#listed, listed);
    const tools = before && kept === this.#listed ? before.tools : filterTools(kept, this.#choice);
    this.#listed = kept;
    if (before && before.tools === tools && before.prompts === prompts) return;
    this.#offer = { tools, prompts };
    this.#listener.tools();
  }

  #drop(): void {
    this.end();
    if (!this.#offer) return;
    this.#offer = undefined;
    this.#listener.tools();
  }
}

/** Whether it does not come back by itself. */
function isPermanentlyGone(state: ServerState): boolean {
  if (state.kind === 'failed') return state.nextRetryAt === undefined;
  return state.kind === 'needs-auth' || state.kind === 'disabled';
}

/** What one server listed in earlier lives; servers in the program have none, since they are there at once. */
export class RememberedTools {
  readonly #deps: RememberedToolsDeps;
  readonly #server: string;
  readonly #entry: ServerEntry;
  #key: string | undefined;
  #read: Promise<void> | undefined;

  constructor(server: string, entry: ServerEntry, context: RememberedToolsDeps) {
    this.#server = server;
    this.#entry = entry;
    this.#deps = context;
  }

  /** Settles when what there is has been read. */
  get read(): Promise<void> | undefined {
    return this.#read;
  }

  /** Reads it when it is dialled, the first time only: whoever is dialled again has been heard of since. */
  recall(take: (tools: readonly ListedTool[]) => void): void {
    const { toolCache: catalogue } = this.#deps;
    if (!catalogue) return;
    this.#key = cacheKey(this.#server, this.#entry, this.#deps);
    if (this.#key === undefined || this.#read !== undefined) return;
    this.#read = catalogue.recall(this.#key).then((tools) => {
      if (tools) take(tools);
    });
  }

  /** A list that ends early is no list to remember. */
  remember({ items, failure }: Discovered<ListedTool>): void {
    if (this.#key !== undefined && failure === undefined) this.#deps.toolCache?.remember(this.#key, items);
  }
}

type RememberedToolsDeps = Pick<ConnectContext, 'toolCache' | 'cwd' | 'expand'>;

/**
 * The same for the same server under the same name and with the same credentials, whatever they are written as: what one
 * person is offered is nothing to tell another. It tells nothing of them: all of it goes into one hash.
 */
function cacheKey(
  key: string,
  written: ServerEntry,
  { cwd, expand }: RememberedToolsDeps,
): string | undefined {
  const entry = expandedEntry(key, written, expand);
  if (!isRecord(entry) || entry.type === 'sdk') return undefined;
  const server = eraKey(entry as ServerEntry, cwd);
  if (server === undefined) return undefined;
  const { headers, headersHelper, tls, env, authToken }: Record<string, unknown> = entry;
  const who = { headers, headersHelper, tls, env, authToken };
  return createHash('sha256')
    .update(sortedJson([key, server, who]))
    .digest('base64url');
}

/** Undefined if something it refers to is missing: the dial says so. */
function expandedEntry(
  key: string,
  entry: ServerEntry,
  expand: RememberedToolsDeps['expand'],
): ServerEntry | undefined {
  try {
    return expand ? expand(key, entry).entry : entry;
  } catch {
    return undefined;
  }
}
/**
 * The new list made of the old objects wherever nothing changed, and the old list itself if nothing did at all: whoever
 * remembers what it made of an object need not make it again. The order of members means nothing.
 */
export function reuseUnchanged<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): readonly T[] {
  const known = new Map(before.map((item) => [item.name, item]));
  const kept = after.map((item) => {
    const old = known.get(item.name);
    return old !== undefined && isEqualJson(old, item) ? old : item;
  });
  const isUnchanged = kept.length === before.length && kept.every((item, at) => item === before[at]);
  return isUnchanged ? before : kept;
}
