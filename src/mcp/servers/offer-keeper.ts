import type { ListedTool } from '../../protocol/mcp.ts';
import type { ServerEntry } from '../connection/world.ts';
import { choiceOf, chooseTools, type ToolChoice, unmatchedChoices } from '../discovery/choose-tools.ts';
import { sayDiagnostic } from '../discovery/discovered.ts';
import { keepSame } from '../discovery/keep-same.ts';
import type { Clock } from './clock.ts';
import type { Listing } from './lists.ts';
import type { Offer } from './server.ts';
import type { SlotListener } from './slot-world.ts';
import { isBusy, type ServerState } from './state.ts';
import { Warnings } from './warnings.ts';

/** What a server offers. A quick restart does not shake it: it goes when the server stays away for a while. */
export class OfferKeeper {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #choice: ToolChoice;
  readonly #listener: Pick<SlotListener, 'tools'>;
  readonly #warnings: Warnings;
  /** All that it lists; what is offered is made of it. */
  #listed: readonly ListedTool[] = [];
  #offer: Offer | undefined;
  #isVerified = false;
  #stopGrace: (() => void) | undefined;

  constructor(
    { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
    entry: ServerEntry,
    listener: Pick<SlotListener, 'tools' | 'warning'>,
  ) {
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#choice = choiceOf(entry);
    this.#listener = listener;
    this.#warnings = new Warnings((message, subject) => listener.warning(message, subject));
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
      this.#warnings.tell(sayDiagnostic(diagnostic), { kind: 'list', ...found });
    }
    const names = tools.items.map(({ name }) => name);
    for (const message of unmatchedChoices(names, this.#choice)) this.#warnings.tell(message);
    this.#isVerified = true;
    this.#put(tools.items, keepSame(this.#offer?.prompts ?? [], prompts.items));
  }

  /** What it listed in an earlier life: it stands in for the first list. */
  assume(tools: readonly ListedTool[]): void {
    if (!this.#isVerified && this.#offer === undefined && tools.length > 0) this.#put(tools, []);
  }

  follow(state: ServerState): void {
    if (state.kind === 'connected') this.end();
    // What is only assumed stands for the server that is being dialled.
    else if (!this.#isVerified && isBusy(state)) return;
    else if (isHopeless(state) || this.#graceMs === 0) this.#drop();
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
    const kept = keepSame(this.#listed, listed);
    const tools = before && kept === this.#listed ? before.tools : chooseTools(kept, this.#choice);
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
function isHopeless(state: ServerState): boolean {
  if (state.kind === 'failed') return state.nextRetryAt === undefined;
  return state.kind === 'needs-auth' || state.kind === 'disabled';
}
