import { createHash } from 'node:crypto';
import type { ConnectOptions, VersionNegotiationOptions } from '@modelcontextprotocol/client';
import type { EraVerdict, ServerEntry } from './world.ts';

/** The revision of the stateless protocol. */
export const MODERN_VERSION = '2026-07-28';

/** How a server is asked for its era. */
export type EraPlan = {
  readonly negotiation: VersionNegotiationOptions;
  readonly prior?: NonNullable<ConnectOptions['prior']>;
};

/**
 * How long an answer to the protocol probe is waited for, which old servers may ignore. A process has to start first, and
 * a server behind an HTTP gateway may have to; a server that has opened a socket is running.
 */
const PROBE_MS = { process: 6000, network: 10_000, socket: 1000 } as const;

/**
 * An entry that says its era is believed. In-process servers and those of the older HTTP speak the older protocol. All
 * others are asked; a server that ignores the probe is spoken to as an older one, except one that has answered before.
 */
export function planEra(
  entry: Pick<ServerEntry, 'type'> & { era?: 'auto' | 'legacy' | 'modern' },
  kind: 'process' | 'network',
  known: EraVerdict | undefined,
  limitMs: number,
): EraPlan {
  const era = entry.era ?? 'auto';
  if (era === 'modern') return { negotiation: { mode: { pin: MODERN_VERSION } } };
  const isOld = era === 'auto' && OLD.has(entry.type);
  if (era === 'legacy' || isOld) return { negotiation: { mode: 'legacy' } };
  if (known?.era === 'legacy') return { negotiation: { mode: 'auto' }, prior: { kind: 'legacy' } };
  if (known?.era === 'modern') return { negotiation: { mode: 'auto' } };
  const probeMs = PROBE_MS[SOCKETS.has(entry.type) ? 'socket' : kind];
  return { negotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, limitMs / 3) } } };
}

const SOCKETS: ReadonlySet<string | undefined> = new Set(['ws', 'ws-ide']);

const OLD: ReadonlySet<string | undefined> = new Set(['sdk', 'sse', 'sse-ide']);

/** The same for the same server, whatever credentials it is reached with; it tells nothing of what it is made of. */
export function eraKey(entry: ServerEntry, cwd: string | undefined): string | undefined {
  const parts =
    'command' in entry
      ? [entry.command, entry.args ?? [], entry.cwd ?? cwd ?? '']
      : 'url' in entry && entry.url !== undefined
        ? [entry.type, entry.url]
        : undefined;
  return parts && createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
