import type { Clock } from '../../base/async/timers.ts';
import { isEqualJson } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { ServerEntry } from '../connection/connect-context.ts';
import { UniqueWarnings } from '../connection/repeated-warnings.ts';
import { formatDiagnostic } from '../discovery/read-list.ts';
import { filterTools, type ToolFilter, toolFilterOf, unmatchedPatterns } from '../discovery/tool-filter.ts';
import type { Listing } from './list-refresh.ts';
import { isBusy, type ServerState } from './server-state.ts';
import type { Offer } from './server-status.ts';
import type { ServerListener } from './servers-options.ts';

/** The tools and prompts that one server offers. They stay offered for a grace period after a lost connection. */
export class OfferedTools {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #choice: ToolFilter;
  readonly #listener: Pick<ServerListener, 'tools'>;
  readonly #warnings: UniqueWarnings;
  /** All listed tools, before filtering. */
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

  /** Whether the server itself has listed its tools since the host started. */
  get isVerified(): boolean {
    return this.#isVerified;
  }

  /** Takes a new listing; unchanged objects are reused, and without a change no listener is called. */
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

  /** Offers cached tools until the server has listed its own. */
  assume(tools: readonly ListedTool[]): void {
    if (!this.#isVerified && this.#offer === undefined && tools.length > 0) this.#put(tools, []);
  }

  follow(state: ServerState): void {
    if (state.kind === 'connected') this.end();
    // Cached tools stay offered while the server is connecting.
    else if (!this.#isVerified && isBusy(state)) return;
    else if (isPermanentlyGone(state) || this.#graceMs === 0) this.#drop();
    else if (this.#offer) {
      this.#stopGrace ??= this.#clock.after(this.#graceMs, () => this.#drop(), 'background');
    }
  }

  /** Ends the grace period. */
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

/** Whether the server will not reconnect automatically. */
function isPermanentlyGone(state: ServerState): boolean {
  if (state.kind === 'failed') return state.nextRetryAt === undefined;
  return state.kind === 'needs-auth' || state.kind === 'disabled';
}

/**
 * Reuses the old objects that are equal to the new ones, and the old list if nothing changed, so that values derived
 * from them stay cached.
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
