import { within } from '../../base/async/timers.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { RequestAbortError } from '../../protocol/sdk-error.ts';
import type { ServerEntry } from '../connection/connect-context.ts';
import type { Connection } from '../connection/connection.ts';
import { isIncluded, toolFilterOf } from '../discovery/tool-filter.ts';
import { HostError } from '../errors/host-error.ts';
import type { ManagedServer } from './managed-server.ts';
import type { UnavailableReason } from './server-status.ts';

/** One server as callers of its tools need it, across reconnects. */
export type CallTarget = {
  readonly entry: ServerEntry;
  /** The listed tool; undefined if the server does not list it. */
  tool(name: string): ListedTool | undefined;
  /** Whether the entry's filters include the tool; excluded tools cannot be called either. */
  isIncluded(name: string): boolean;
  /** The current connection; undefined while there is none. */
  live(): Connection | undefined;
  /**
   * Waits for a pending connection, or connects an idle server or one that waits for its next retry. Rejects with a
   * `HostError` that explains why there is none (failed, disabled, needs-auth), or when the signal aborts.
   */
  connect(signal?: AbortSignal): Promise<Connection>;
  /** Whether the next call would use this connection. */
  isCurrent(connection: Connection): boolean;
  /** Reports the outcome of a call: terminal failures are counted, any other outcome resets the count. */
  report(connection: Connection, failure?: unknown): void;
  /** Asks a person to sign in after a refused call. True if the call may be sent again. */
  signInAfter?(failure: unknown, signal?: AbortSignal): Promise<boolean>;
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
    signInAfter: (failure, signal = NEVER) => slot.signInAfter(failure, signal),
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
  if (aborted) throw new RequestAbortError('The request was aborted', { cause: reason });
}

const LOST: UnavailableReason = {
  code: 'closed',
  detail: 'the connection was closed right after it was established; retry the call',
};
const NEVER = new AbortController().signal;
