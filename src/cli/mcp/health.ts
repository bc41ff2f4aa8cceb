import type { Configuration } from '../../config/configuration.ts';
import type { ConfiguredServer, Verdict, WrittenServer } from '../../config/model.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import type { Tone } from '../chat/piece.ts';
import { faultOf } from '../host/with-host.ts';
import type { Statuses } from './connect.ts';
import { allLost, verdictText } from './outcome.ts';
import { whereText } from './where.ts';

/** How a server is. `ready` could be started, and was not; `failed` was, or could not be. */
export type Health = {
  readonly state: Verdict['kind'] | 'connected' | 'failed';
  /** In words: why it is not connected, and what to do. */
  readonly text: string;
  readonly tools?: number;
  readonly serverInfo?: { readonly name: string; readonly version: string };
};

/** One entry as it is listed. */
export type Row = { readonly name: string; readonly written: WrittenServer; readonly health: Health };

type Judged = Pick<Configuration, 'merged' | 'choices'>;

/** Why a server could not be started if it were; nothing is started to find out. */
export type Unmet = (server: ConfiguredServer) => readonly string[];

/** Every server, and beside those that have a name the ones that wait for it. */
export function rowsOf(configuration: Judged, statuses: Statuses, unmet: Unmet): Row[] {
  const counted = configuration.merged.servers.map((server) => ({
    name: server.name,
    written: server.written,
    health: healthOf(server, statuses[server.name], unmet),
  }));
  return [...counted, ...waiting(configuration)].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
  );
}

export function healthOf(server: ConfiguredServer, status: ServerStatus | undefined, unmet: Unmet): Health {
  const { name, verdict } = server;
  const text = verdictText(name, verdict);
  if (text !== undefined) return { state: verdict.kind, text };
  if (!status) {
    const faults = unmet(server);
    if (faults.length === 0) return { state: 'ready', text: 'ready' };
    return { state: 'failed', text: `cannot be started: ${faults.join('; ')}` };
  }
  const fault = faultOf(name, status);
  if (fault !== undefined) return { state: 'failed', text: `failed: ${fault}` };
  const { tools = 0, serverInfo } = status;
  return {
    state: 'connected',
    text: `connected (${tools} ${tools === 1 ? 'tool' : 'tools'})`,
    tools,
    ...(serverInfo && { serverInfo }),
  };
}

/** Whether somebody has to do something about it before all is well; what waits for a person is well. */
export function isTrouble({ state }: Health): boolean {
  return state === 'failed' || state === 'blocked' || state === 'broken';
}

/** What a state looks like. */
export const MARKS: Readonly<Record<Health['state'], readonly [mark: string, tone: Tone]>> = {
  connected: ['✓', 'good'],
  ready: ['·', 'dim'],
  failed: ['✗', 'bad'],
  broken: ['✗', 'bad'],
  blocked: ['✗', 'bad'],
  pending: ['⏸', 'warn'],
  rejected: ['⏸', 'dim'],
  disabled: ['⏸', 'dim'],
};

/** Entries of the project that nobody approved; another one may have the name meanwhile. */
function waiting(configuration: Judged): Row[] {
  return allLost(configuration).flatMap(({ written, why, winner }) => {
    if (why !== 'pending' && why !== 'rejected') return [];
    const choice = configuration.choices.ofServer(written) === 'changed' ? 'changed' : 'new';
    const verdict: Verdict = why === 'pending' ? { kind: why, choice } : { kind: why };
    const meanwhile = winner ? ` (meanwhile the one of ${whereText(winner)} counts)` : '';
    const text = `${verdictText(written.name, verdict)}${meanwhile}`;
    return [{ name: written.name, written, health: { state: why, text } }];
  });
}
