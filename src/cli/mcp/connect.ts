import type { Configuration } from '../../config/configuration.ts';
import type { ConfiguredServer } from '../../config/model.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { withHost } from '../host/with-host.ts';
import type { Session } from './session.ts';

/** How each server that was dialled is; one that is not ready is never in it. */
export type Statuses = Readonly<Record<string, ServerStatus>>;

/** Dials those of the servers that may be started, does the work, and ends them; gives the exit code. */
export async function withStatuses(
  { env, format }: Session,
  configuration: Configuration,
  servers: readonly ConfiguredServer[],
  work: (statuses: Statuses) => Promise<number>,
): Promise<number> {
  const entries = dialable(servers);
  if (Object.keys(entries).length === 0) return work({});
  return withHost({ servers: entries, configuration, format }, env, ({ host }) => work(host.status()));
}

/** The entries of the servers that may be started. */
export function dialable(servers: readonly ConfiguredServer[]): Record<string, ExternalServerEntry> {
  const ready = servers.flatMap(({ name, verdict, entry }) =>
    verdict.kind === 'ready' && entry !== undefined ? [[name, entry] as const] : [],
  );
  return Object.fromEntries(ready);
}
