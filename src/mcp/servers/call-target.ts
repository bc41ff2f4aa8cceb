import { within } from '../../base/async/timers.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { AbortError } from '../../protocol/sdk-error.ts';
import type { ServerEntry } from '../connection/connect-context.ts';
import type { Connection } from '../connection/connection.ts';
import { isIncluded, toolFilterOf } from '../discovery/tool-filter.ts';
import { HostError } from '../errors/host-error.ts';
import type { ManagedServer } from './managed-server.ts';
import type { UnavailableReason } from './server-status.ts';

/** One server as those who call its tools need it, whatever happens to its connection meanwhile. */
export type CallTarget = {
  readonly entry: ServerEntry;
  /** The listed tool, if it is known. */
  tool(name: string): ListedTool | undefined;
  /** Whether its entry lets the tool be used: what is left out of the offer cannot be called either. */
  isIncluded(name: string): boolean;
  /** The connection there is now, if there is one. */
  live(): Connection | undefined;
  /**
   * A live connection: waits while one is being made or made anew, and dials one that waits to be asked for or for its
   * next retry; rejects with a `HostError` that explains (failed, disabled, needs-auth), or as the signal says.
   */
  connect(signal?: AbortSignal): Promise<Connection>;
  /** Whether this is the connection the next call would be made on. */
  isCurrent(connection: Connection): boolean;
  /** What a call came to: a terminal failure is counted, anything else ends the count. */
  report(connection: Connection, failure?: unknown): void;
};

export function callTargetOf(key: string, slot: ManagedServer): CallTarget {
  const choice = toolFilterOf(slot.entry);
  return {
    entry: slot.entry,
    tool: (name) => slot.tools?.find((tool) => tool.name === name),
    isIncluded: (name) => isIncluded(name, choice),
    isCurrent: (connection) => slot.connection === connection,
    live: () => slot.connection,
    report: (connection, failure) => slot.report(connection, failure),
    async connect(signal = NEVER) {
      throwIfAborted(signal);
      const now = slot.connection;
      if (now) return now;
      if (slot.state.kind === 'waiting') void slot.connectIfNeeded();
      else slot.retryNow('requested');
      await within(Number.POSITIVE_INFINITY, slot.whenIdle(), signal);
      throwIfAborted(signal);
      const { connection } = slot;
      if (connection) return connection;
      const { code, detail, ...more } = slot.unavailableReason() ?? LOST;
      throw new HostError(code, key, detail, { hasRun: 'no', ...more });
    },
  };
}

function throwIfAborted({ aborted, reason }: AbortSignal): void {
  if (aborted) throw new AbortError('The request was aborted', { cause: reason });
}

const LOST: UnavailableReason = { code: 'closed', detail: 'it was lost as it came' };
const NEVER = new AbortController().signal;
