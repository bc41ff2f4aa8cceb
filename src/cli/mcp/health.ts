import { join } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import { entryVariables, type Lookup } from '../../config/expand/expand-entry.ts';
import {
  describeIgnored,
  ignoredEntries,
  type ServerRecord,
  serverRecord,
  shortStatus,
  verdictStatus,
} from '../../config/explain/server-record.ts';
import type { IgnoredServer, IgnoreReason, Verdict, WrittenServer } from '../../config/model.ts';
import { fileSecretStore } from '../../config/secrets/secret-store.ts';
import type { Tone } from '../terminal/render.ts';
import { whereText } from './entries.ts';
import type { Statuses } from './session.ts';

/** The status of a server as `mcp list` and `mcp get` show it. */
export type Health = {
  readonly state: ServerRecord['state'];
  /** The state in words: why the server is not connected, and what to do. */
  readonly text: string;
  readonly tools?: number;
  readonly serverInfo?: { readonly name: string; readonly version: string };
};

/** One entry of `mcp list`. */
export type Row = { readonly name: string; readonly written: WrittenServer; readonly health: Health };

/** Every active server, and entries of the project that are pending or rejected; in the order of names. */
export function rowsOf(configuration: Configuration, statuses: Statuses): Row[] {
  const lookup = createLookup(configuration);
  const active = configuration.merged.servers.map(({ name, written }) => {
    const status = statuses[name];
    const record = serverRecord(configuration, name, { lookup, ...(status && { status }) });
    return { name, written, health: healthOf(record) };
  });
  const waiting = ignoredEntries(configuration).flatMap((entry) => waitingRow(configuration, entry));
  return [...active, ...waiting].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

export function healthOf(record: ServerRecord): Health {
  const { state, connection } = record;
  const health = { state, text: shortStatus(record) };
  if (state !== 'connected' || connection === 'not asked') return health;
  const { tools = 0, serverInfo } = connection;
  return { ...health, tools, ...(serverInfo && { serverInfo }) };
}

/** Whether the server needs a fix. Pending, rejected and disabled servers do not. */
export function isFailing({ state }: Health): boolean {
  return state === 'failed' || state === 'blocked' || state === 'broken';
}

/** Mark and color of each state. */
export const MARKS: Readonly<Record<Health['state'], readonly [mark: string, tone: Tone]>> = {
  connected: ['✓', 'good'],
  ready: ['·', 'dim'],
  failed: ['✗', 'bad'],
  broken: ['✗', 'bad'],
  blocked: ['✗', 'bad'],
  pending: ['⏸', 'warn'],
  rejected: ['⏸', 'dim'],
  disabled: ['⏸', 'dim'],
  ignored: ['·', 'dim'],
  unknown: ['?', 'warn'],
};

function waitingRow(
  { approvals: choices }: Pick<Configuration, 'approvals'>,
  { written, why, winner }: IgnoredServer,
): Row[] {
  if (why !== 'pending' && why !== 'rejected') return [];
  const { name } = written;
  const choice = choices.ofServer(written) === 'changed' ? 'changed' : 'new';
  const verdict: Verdict = why === 'pending' ? { kind: why, choice } : { kind: why };
  const active = winner ? ` (until then, the entry in ${whereText(winner)} is active)` : '';
  const text = verdictStatus({ name, written, verdict, settled: [], lost: [] });
  return [{ name, written, health: { state: why, text: `${text}${active}` } }];
}

/** What became of an entry that was written: whether it is active, and which entries it shadows. */
type Outcome = {
  readonly verdict: Verdict['kind'] | IgnoreReason | 'absent';
  readonly lines: readonly string[];
  readonly shadows: readonly WrittenServer[];
  readonly winner?: WrittenServer;
};

/** The outcome of the entry with this name in the file at `path`. */
export function outcomeOf({ merged }: Pick<Configuration, 'merged'>, name: string, path: string): Outcome {
  const isIt = ({ written }: { readonly written: WrittenServer }) =>
    written.name === name && written.path === path;
  const active = merged.servers.find(isIt);
  if (active) {
    const { verdict } = active;
    const shadows = active.lost.filter(({ why }) => why === 'shadowed').map(({ written }) => written);
    const over = shadows.map((it) => `shadows the entry in ${whereText(it)}`);
    const lines = [...(verdict.kind === 'ready' ? [] : [verdictStatus(active)]), ...over];
    return { verdict: verdict.kind, lines, shadows };
  }
  const ignored = ignoredEntries({ merged }).find(isIt);
  if (!ignored) return { verdict: 'absent', lines: [], shadows: [] };
  const { why, winner } = ignored;
  return {
    verdict: why,
    lines: [`ignored: ${describeIgnored(ignored)}`],
    shadows: [],
    ...(winner && { winner }),
  };
}

/** Resolves `${…}` as a run does: variables of the environment and of settings, and stored secrets. */
export function createLookup(configuration: Pick<Configuration, 'context' | 'settings'>): Lookup {
  const env = entryVariables(configuration);
  const store = fileSecretStore(join(configuration.context.home, 'secrets.json'));
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name) => store.get(name),
  };
}
