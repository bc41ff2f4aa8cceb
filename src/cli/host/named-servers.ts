import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Command } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import { type ConfigContext, configContext } from '../../config/config-context.ts';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import {
  formatSummary,
  ignoredEntries,
  ignoredRecord,
  serverRecord,
} from '../../config/explain/server-record.ts';
import { formatDiagnostic } from '../../config/files/diagnostics.ts';
import { managedSource } from '../../config/merge/eligibility.ts';
import type { ConfiguredServer, IgnoredServer, Verdict } from '../../config/model.ts';
import { inWrittenOrder } from '../../config/running-configuration.ts';
import { fetchConnectors } from '../../config/sources/fetch-connectors.ts';
import type { ConfigFlags } from '../../config/sources/source-types.ts';
import type { HostServerEntry } from '../../host/host-options.ts';
import { guessToolName, normalizeName, writtenToolName } from '../../protocol/tool-name.ts';
import { usageError } from '../flags/flag-values.ts';
import { flagConfigs, type ServerMap } from '../flags/server-flags.ts';
import { CommandFailed, reportError } from '../output/failure.ts';

/** The servers of a command. */
export type NamedServers = {
  /** Servers that may be started. */
  readonly servers: ServerMap;
  readonly configuration: Configuration;
  /** Configured servers that may not be started, and why. */
  readonly notStarted: readonly NotStarted[];
};

export type NotStarted = {
  readonly server: string;
  readonly state: Verdict['kind'];
  /** Whether the command line names this server. */
  readonly isAsked: boolean;
  /** The reason and the next step in one line. */
  readonly why: string;
};

/**
 * The servers that flags define, and no others; without such flags, the configured servers. With `wanted`, only
 * these; a function selects from the known names. Unknown names and unreadable files are usage errors.
 */
export async function namedServers(
  command: Command,
  wanted?: readonly string[] | ((known: readonly string[]) => readonly string[]),
): Promise<NamedServers> {
  const mcpConfigs = flagConfigs(command);
  const context = cliContext(process.env);
  const configuration = await readWithCatalogs(context, mcpConfigs ? { mcpConfigs, isStrict: true } : {});
  refuseUnreadable(command, configuration);
  const isSelectable = ({ written }: ConfiguredServer) => !mcpConfigs || written.scope === 'program';
  const known = new Map(
    inWrittenOrder(configuration)
      .filter(isSelectable)
      .map((server) => [server.name, server]),
  );
  const ignored = ignoredServers(configuration, mcpConfigs ? 'flags' : 'all');
  const there = [...known.keys(), ...(mcpConfigs ? ignored.keys() : [])];
  const chooses = typeof wanted === 'function' ? wanted([...known.keys(), ...ignored.keys()]) : wanted;
  const names = chooses ?? there;
  const isWritten = (name: string) => known.has(name) || ignored.has(name);
  if (there.length === 0 && !names.some(isWritten)) usageError(command, noServersText(configuration));
  for (const name of names) if (!isWritten(name)) usageError(command, unknownServer(name, there));
  const chosen = names.flatMap((name) => known.get(name) ?? []);
  const isReady = ({ verdict }: ConfiguredServer) => verdict.kind === 'ready';
  const ready = chosen.filter(isReady).map(({ name, entry }) => [name, entry as HostServerEntry] as const);
  return {
    servers: Object.fromEntries(ready),
    configuration,
    notStarted: [
      ...chosen
        .filter((it) => !isReady(it))
        .map((it) => ({ ...notStartedServer(configuration, it), isAsked: wanted !== undefined })),
      // An ignored server is listed only if a flag or an argument names it.
      ...names.flatMap((name) => (known.has(name) ? [] : (ignored.get(name) ?? []))),
    ],
  };
}

/** The configuration; connector catalogs that were never fetched are fetched first. */
async function readWithCatalogs(context: ConfigContext, wanted: ConfigFlags): Promise<Configuration> {
  const configuration = await readConfiguration(context, wanted);
  const isNeverFetched = configuration.sources.some(
    (it) => it.scope === 'connector' && it.state === 'absent',
  );
  if (!isNeverFetched || wanted.isStrict) return configuration;
  const signal = AbortSignal.timeout(CATALOGUE_MS);
  return (await fetchConnectors(configuration, { signal, note: reportError }))
    ? readConfiguration(context, wanted)
    : configuration;
}

/** Timeout for the first fetch of a catalog. */
const CATALOGUE_MS = 5_000;

/** A file that a flag names must be readable. */
function refuseUnreadable(command: Command, { sources }: Configuration): void {
  const unusable = sources.find(({ scope, state }) => scope === 'program' && state === 'unusable');
  if (unusable) usageError(command, unusable.faults.map(formatDiagnostic).join('; '));
}

/**
 * Entries whose name no active entry has, or that a flag defines and the managed file excludes: an active server of the
 * same name is a different one.
 */
function ignoredServers(configuration: Configuration, of: 'flags' | 'all'): ReadonlyMap<string, NotStarted> {
  const { merged } = configuration;
  const all = of === 'all' ? merged.lost : ignoredEntries(configuration);
  const ignored = all.filter(
    ({ written, why }) => of === 'all' || (written.scope === 'program' && why === 'managed'),
  );
  const notStarted = ({ written: { name }, why }: IgnoredServer): NotStarted => ({
    server: name,
    state: why === 'pending' || why === 'rejected' ? why : 'blocked',
    isAsked: true,
    why: formatSummary(
      ignoredRecord(
        configuration,
        name,
        ignored.filter(({ written }) => written.name === name),
      ),
    ),
  });
  return new Map(ignored.map((it) => [it.written.name, notStarted(it)]));
}

/** Why no server is configured: the managed file, pending approval, or unreadable files. */
function noServersText({ sources, faults, merged }: Configuration): string {
  const why = faults.filter(({ level }) => level === 'error').map(formatDiagnostic);
  const managed = managedSource(sources);
  if (managed) {
    const others = merged.lost.length > 0 ? ' and excludes servers from all other sources' : '';
    const problem = managed.state === 'unusable' ? 'cannot be read' : 'lists no servers';
    return [`no servers: ${managed.label} ${problem}${others}`, ...why].join('; ');
  }
  const pending = merged.lost.some(({ why }) => why === 'pending');
  const hint = pending ? ', approve those of the project with "toolplane mcp approve"' : '';
  return [
    `no servers: add one with "toolplane mcp add"${hint}, or use --mcp-config <file>, --stdio <command> or --url <url>`,
    ...why,
  ].join('; ');
}

function unknownServer(name: string, known: readonly string[]): string {
  const closest = nearest(name, known) ?? closestFullName(name, known);
  const hint = closest === undefined ? '' : `; did you mean "${closest}"?`;
  return `unknown server "${name}"${hint} (known: ${known.join(', ')})`;
}

function notStartedServer(
  configuration: Configuration,
  { name, verdict }: ConfiguredServer,
): Omit<NotStarted, 'isAsked'> {
  return { server: name, state: verdict.kind, why: formatSummary(serverRecord(configuration, name)) };
}

/** The closest full tool name, for a name with an unknown server; undefined if it is not a full name. */
export function closestFullName(name: string, servers: readonly string[]): string | undefined {
  const { server, tool } = guessToolName(name) ?? {};
  if (server === undefined || tool === undefined) return undefined;
  const closest = nearest(server, servers.map(normalizeName));
  return closest === undefined ? undefined : writtenToolName(closest, tool);
}

/** The context in which this process reads configuration. */
export function cliContext(env: NodeJS.ProcessEnv, cwd = workingDirectory()): ConfigContext {
  return configContext({
    cwd,
    env,
    userHome: env.HOME || homedir(),
    platform: process.platform,
  });
}

/** The working directory without symbolic links; throws if it was removed. */
export function workingDirectory(): string {
  try {
    return realpathSync.native(process.cwd());
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new CommandFailed('the working directory no longer exists; change to an existing directory');
  }
}
