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

/** How long a process may take to answer what an old server may not even understand. */
const PROBE_MS = 6000;

/**
 * An entry that says its era is believed. In-process servers and those of the older HTTP speak the older protocol. All
 * others are asked; a process that ignores the question is given up on soon, except one that has answered before.
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
  if (known?.era === 'modern' || kind === 'network') return { negotiation: { mode: 'auto' } };
  return { negotiation: { mode: 'auto', probe: { timeoutMs: Math.min(PROBE_MS, limitMs / 3) } } };
}

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
