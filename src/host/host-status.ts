import type { RunningConfiguration } from '../config/running.ts';
import { unknownServer } from '../mcp/features/unknown-server.ts';
import type { KnownServer } from '../mcp/servers/server.ts';
import { closedStatus, type ServerStatus } from '../mcp/servers/status.ts';

/** Every server of a host by its name: first those it runs, then those that are configured and may not be started. */
export function hostStatus(
  servers: ReadonlyMap<string, KnownServer>,
  running: RunningConfiguration | undefined,
  host: 'open' | 'closed',
): Record<string, ServerStatus> {
  const aside = (running?.aside() ?? []).filter(({ name }) => !servers.has(name));
  const all = [
    ...[...servers].map(([name, { status }]) => [name, status] as const),
    ...aside.map(({ name }) => [name, asideStatus(name, running)] as const),
  ];
  return Object.fromEntries(
    all.map(([name, status]) => [name, host === 'open' ? status : closedStatus(status)]),
  );
}

function asideStatus(name: string, running: RunningConfiguration | undefined): ServerStatus {
  const { code, message } = unknownServer(name, [], running?.whyAside(name));
  const since = running?.current.readAt ?? 0;
  return { state: 'disabled', since, attempt: 0, cause: { code, message }, stderr: [] };
}
