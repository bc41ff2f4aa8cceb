import { within } from '../../base/async/timers.ts';
import { HostError, type HostErrorCode, type InactiveReason } from '../errors/host-error.ts';

import type { ManagedServer } from './managed-server.ts';

/** Options of `host.ready()`: which servers to wait for, and how long. */
export type Ready = {
  /** Servers to wait for; on-demand servers in this list are connected. Default: all servers that connect at start. */
  servers?: readonly string[];
  /** Time limit in milliseconds. Default: until each server is connected or has failed. */
  deadline?: number;
  signal?: AbortSignal;
};

/** With a lookup of why a configured server was not started. */
export type ReadyOptions = Ready & { readonly inactiveReason?: InactiveReason };

type Missing = { readonly server: string; readonly code: HostErrorCode; readonly fault: string };

/** Required servers are not connected; `missing` lists them with the causes. */
export class NotReadyError extends HostError {
  override readonly name = 'NotReadyError';
  readonly missing: readonly Missing[];

  constructor(first: Missing, others: readonly Missing[]) {
    const more = others.map(({ server, fault: detail }) => `; MCP server "${server}": ${detail}`);
    super(first.code, first.server, [first.fault, ...more].join(''), { hasRun: 'no' });
    this.missing = [first, ...others];
  }
}

/** Resolves when each server is connected or has failed, or at the deadline; rejects if a required or named server is not connected. */
export async function awaitReady(
  slots: ReadonlyMap<string, ManagedServer>,
  { servers, deadline = Number.POSITIVE_INFINITY, signal = NEVER, inactiveReason }: ReadyOptions,
): Promise<void> {
  signal.throwIfAborted();
  const named = servers ?? [...slots.keys()].filter((key) => isRequired(slots.get(key)));
  const all = servers
    ? servers.map((key) => wanted(slots.get(key)))
    : [...slots.values()].map((it) => (isRequired(it) ? wanted(it) : it.settled()));
  await within(deadline, Promise.all(all), signal);
  signal.throwIfAborted();
  const [first, ...others] = named.flatMap((key) => missing(key, slots.get(key), inactiveReason));
  if (first) throw new NotReadyError(first, others);
}

const NEVER = new AbortController().signal;

async function wanted(slot: ManagedServer | undefined): Promise<void> {
  if (slot?.state.kind === 'waiting') void slot.connectIfNeeded();
  await slot?.whenIdle();
}

function isRequired(slot: ManagedServer | undefined): boolean {
  const entry = slot?.entry;
  return entry !== undefined && 'required' in entry && entry.required === true;
}

function missing(
  server: string,
  slot: ManagedServer | undefined,
  inactiveReason: InactiveReason | undefined,
): Missing[] {
  if (!slot) {
    const inactive = inactiveReason?.(server);
    if (inactive !== undefined) return [{ server, code: 'bad-config', fault: inactive }];
    return [{ server, code: 'unknown-server', fault: 'unknown server; check the name' }];
  }
  const why = slot.unavailableReason();
  return why ? [{ server, code: why.code, fault: why.detail }] : [];
}
