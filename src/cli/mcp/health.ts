import { join } from 'node:path';
import { shellWord } from '../../base/text/display-text.ts';
import type { Configuration } from '../../config/configuration.ts';
import { type Lookup, variablesOf } from '../../config/expand/expand-entry.ts';
import { describeIgnored, serverRecord } from '../../config/explain/server-record.ts';
import { faultText } from '../../config/files/diagnostics.ts';
import type { ConfiguredServer, LossReason, LostServer, Verdict, WrittenServer } from '../../config/model.ts';
import { fileSecretStore } from '../../config/secrets/secret-store.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import { faultOf } from '../host/with-host.ts';
import type { Tone } from '../terminal/render.ts';
import { whereText } from './entries.ts';
import type { Statuses } from './session.ts';

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
type Unmet = (server: ConfiguredServer) => readonly string[];

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
  const fault = faultOf(status);
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

/** What became of an entry: whether it has its name, and if so over which others. */
type Outcome = {
  readonly verdict: Verdict['kind'] | LossReason | 'absent';
  /** One line each, for people. */
  readonly lines: readonly string[];
  readonly shadows: readonly WrittenServer[];
  readonly winner?: WrittenServer;
};

/** What became of the entry of the name in the file at `path`. */
export function outcomeOf({ merged }: Pick<Configuration, 'merged'>, name: string, path: string): Outcome {
  const isIt = (it: WrittenServer) => it.name === name && it.path === path;
  const counted = merged.servers.find(({ written }) => isIt(written));
  if (counted) {
    const shadows = counted.lost.filter(({ why }) => why === 'shadowed').map(({ written }) => written);
    const over = shadows.map((it) => `it counts instead of the one of ${whereText(it)}`);
    const text = verdictText(name, counted.verdict);
    return {
      verdict: counted.verdict.kind,
      lines: [...(text === undefined ? [] : [text]), ...over],
      shadows,
    };
  }
  const lost = allLost({ merged }).find(({ written }) => isIt(written));
  if (!lost) return { verdict: 'absent', lines: [], shadows: [] };
  const { why, winner } = lost;
  return {
    verdict: why,
    lines: [`it does not count: ${describeIgnored(lost)}`],
    shadows: [],
    ...(winner && { winner }),
  };
}

/** Every entry that does not count. */
export function allLost({ merged }: Pick<Configuration, 'merged'>): LostServer[] {
  return [...merged.servers.flatMap(({ lost }) => lost), ...merged.lost];
}

/** Why a server that has its name is not started, and what to do; undefined if it is. */
export function verdictText(name: string, verdict: Verdict): string | undefined {
  switch (verdict.kind) {
    case 'ready':
      return undefined;
    case 'pending':
      return `${verdict.choice === 'changed' ? 'changed since you approved it' : 'pending approval'}: toolplane mcp approve ${shellWord(name)}`;
    case 'rejected':
      return `rejected; to undo that: toolplane mcp approve ${shellWord(name)}`;
    case 'blocked':
      return `blocked by ${verdict.rule}`;
    case 'disabled':
      return `disabled in ${verdict.label}`;
    case 'broken':
      return `broken: ${faultText(verdict.fault)}`;
  }
}

/** What an entry refers to and nobody has: variables and secrets, each named with what to do. */
export function unmetOf(configuration: Configuration): Unmet {
  const lookup = lookUp(configuration);
  return ({ name }) => serverRecord(configuration, name, { lookup }).expansionErrors;
}

/** Who knows what `${…}` stands for, as a run would ask. */
export function lookUp(configuration: Pick<Configuration, 'world' | 'settings'>): Lookup {
  const { world } = configuration;
  const env = variablesOf(configuration);
  const store = fileSecretStore(join(world.home, 'secrets.json'));
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name) => store.get(name),
  };
}
