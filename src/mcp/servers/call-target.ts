import { within } from '../../base/async/timers.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { AbortError } from '../../protocol/sdk-error.ts';
import type { ServerEntry } from '../connection/connect-context.ts';
import type { Connection } from '../connection/connection.ts';
import { choiceOf, isChosen } from '../discovery/tool-filter.ts';
import { HostError } from '../errors/host-error.ts';
import type { ServerSlot } from './managed-server.ts';
import type { WhyNot } from './server-status.ts';

/** One server as those who call its tools need it, whatever happens to its connection meanwhile. */
export type CallTarget = {
  readonly entry: ServerEntry;
  /** The listed tool, if it is known. */
  tool(name: string): ListedTool | undefined;
  /** Whether its entry lets the tool be used: what is left out of the offer cannot be called either. */
  isChosen(name: string): boolean;
  /** The connection there is now, if there is one. */
  live(): Connection | undefined;
  /**
   * A live connection: waits while one is being made or made anew, and dials one that waits to be asked for or for its
   * next retry; rejects with a `HostError` that explains (failed, disabled, needs-auth), or as the signal says.
   */
  connected(signal?: AbortSignal): Promise<Connection>;
  /** Whether this is the connection the next call would be made on. */
  holds(connection: Connection): boolean;
  /** What a call came to: a terminal failure is counted, anything else ends the count. */
  report(connection: Connection, failure?: unknown): void;
};

export function targetOf(key: string, slot: ServerSlot): CallTarget {
  const choice = choiceOf(slot.entry);
  return {
    entry: slot.entry,
    tool: (name) => slot.tools?.find((tool) => tool.name === name),
    isChosen: (name) => isChosen(name, choice),
    holds: (connection) => slot.connection === connection,
    live: () => slot.connection,
    report: (connection, failure) => slot.report(connection, failure),
    async connected(signal = NEVER) {
      throwIfAborted(signal);
      const now = slot.connection;
      if (now) return now;
      if (slot.state.kind === 'waiting') void slot.open();
      else slot.again('asked');
      await within(Number.POSITIVE_INFINITY, slot.rested(), signal);
      throwIfAborted(signal);
      const { connection } = slot;
      if (connection) return connection;
      const { code, fault, ...more } = slot.whyNot() ?? LOST;
      throw new HostError(code, key, fault, { hasRun: 'no', ...more });
    },
  };
}

function throwIfAborted({ aborted, reason }: AbortSignal): void {
  if (aborted) throw new AbortError('The request was aborted', { cause: reason });
}

const LOST: WhyNot = { code: 'closed', fault: 'it was lost as it came' };
const NEVER = new AbortController().signal;
