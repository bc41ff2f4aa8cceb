import { type CallLog, NO_CALLS } from './call-log.ts';
import type { Piece } from './piece.ts';
import type { ServerHealth } from './server-faults.ts';
import { NOTHING_USED, type Totals } from './totals.ts';

/** Everything the chat knows of its conversation. */
export type View = {
  readonly init: { readonly model?: string; readonly mode?: string; readonly tools: readonly string[] };
  /** Slash commands of the agent, without the slash. */
  readonly commands: readonly string[];
  /** As the last turn began with them. */
  readonly servers: readonly ServerHealth[];
  /** What is wrong with servers, by name, as far as it was told. */
  readonly faults: Readonly<Record<string, string>>;
  readonly calls: CallLog;
  readonly totals: Totals;
  /** The message whose text is being streamed, and those whose text was shown that way. */
  readonly streaming?: string;
  readonly streamed: ReadonlySet<string>;
  /** Whether the last reply ended because it was too long, so that the next one goes on with it. */
  readonly wasCutOff: boolean;
  /** Whether the model said anything since the last prompt. */
  readonly hasText: boolean;
};

export const EMPTY_VIEW: View = {
  init: { tools: [] },
  commands: [],
  servers: [],
  faults: {},
  calls: NO_CALLS,
  totals: NOTHING_USED,
  streamed: new Set(),
  wasCutOff: false,
  hasText: false,
};

/** What a change makes of the view, and what it makes to print. */
export type Shown = { readonly view: View; readonly pieces: readonly Piece[] };
