import type { Command } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import type { ConfigContext } from '../../config/config-context.ts';
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
import { refreshConnectors } from '../../config/sources/refresh-connectors.ts';
import type { ConfigFlags } from '../../config/sources/source-types.ts';
import type { HostServerEntry } from '../../host/host-options.ts';
import { guessToolName, normalizeName, writtenToolName } from '../../protocol/tool-name.ts';
import { flagConfigs, type ServerMap, usageError } from '../flags/server-flags.ts';
import { sanitize } from '../terminal/text.ts';
import { cliContext } from './config-context.ts';

/** The servers a command works with. */
export type NamedServers = {
  /** Those that may be started. */
  readonly servers: ServerMap;
  readonly configuration: Configuration;
  /** Those that are configured and may not be started, and why. */
  readonly notStarted: readonly NotStarted[];
};

export type NotStarted = {
  readonly server: string;
  readonly state: Verdict['kind'];
  /** Whether somebody asked for this very server. */
  readonly isAsked: boolean;
  /** One sentence, and what to do. */
  readonly why: string;
};

/**
 * The servers that flags name, and no others; without such flags, those that are configured here. With `wanted`, only
 * these of them; it may choose from the names that are known. What cannot be used ends the command with 2.
 */
export async function namedServers(
  command: Command,
  wanted?: readonly string[] | ((known: readonly string[]) => readonly string[]),
): Promise<NamedServers> {
  const mcpConfigs = flagConfigs(command);
  const context = cliContext(process.env);
  const configuration = await readWithCatalogues(context, mcpConfigs ? { mcpConfigs, isStrict: true } : {});
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
      // Who is excluded as a whole was named, by a flag if not by a word.
      ...names.flatMap((name) => (known.has(name) ? [] : (ignored.get(name) ?? []))),
    ],
  };
}

/** What is configured; catalogues that nobody has asked yet are asked first, since nothing else would ever ask them. */
async function readWithCatalogues(context: ConfigContext, wanted: ConfigFlags): Promise<Configuration> {
  const configuration = await readConfiguration(context, wanted);
  const isUnasked = configuration.sources.some((it) => it.scope === 'connector' && it.state === 'absent');
  if (!isUnasked || wanted.isStrict) return configuration;
  const note = (text: string) => void process.stderr.write(`toolplane: ${sanitize(text)}\n`);
  const signal = AbortSignal.timeout(CATALOGUE_MS);
  return (await refreshConnectors(configuration, { signal, note }))
    ? readConfiguration(context, wanted)
    : configuration;
}

/** How long an answer is waited for that nobody had yet. */
const CATALOGUE_MS = 5_000;

/** A file that somebody names must be there; one that is only looked for need not. */
function refuseUnreadable(command: Command, { sources }: Configuration): void {
  const unusable = sources.find(({ scope, state }) => scope === 'program' && state === 'unusable');
  if (unusable) usageError(command, unusable.faults.map(formatDiagnostic).join('; '));
}

/**
 * Entries that nothing has the name of, or which are of a flag and excluded by those who run the machine: another server
 * of the name is not what was meant.
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

/** Files that cannot be read may be why, or those who run the machine. */
function noServersText({ sources, faults, merged }: Configuration): string {
  const why = faults.filter(({ level }) => level === 'error').map(formatDiagnostic);
  const managed = managedSource(sources);
  if (managed) {
    const others = merged.lost.length > 0 ? ', and excludes all others' : '';
    const says = managed.state === 'unusable' ? 'cannot be read' : 'names none';
    return [`there are no servers: ${managed.label} ${says}${others}`, ...why].join('; ');
  }
  const pending = merged.lost.some(({ why }) => why === 'pending');
  const hint = pending ? ', approve those of the project with "toolplane mcp approve"' : '';
  return [
    `there are no servers: add one with "toolplane mcp add"${hint}, or name some with --mcp-config <file>, --stdio <command> or --url <url>`,
    ...why,
  ].join('; ');
}

function unknownServer(name: string, known: readonly string[]): string {
  const closest = nearest(name, known) ?? closestFullName(name, known);
  const hint = closest === undefined ? '' : `; did you mean "${closest}"?`;
  return `there is no server "${name}"${hint} (there are ${known.join(', ')})`;
}

function notStartedServer(
  configuration: Configuration,
  { name, verdict }: ConfiguredServer,
): Omit<NotStarted, 'isAsked'> {
  return { server: name, state: verdict.kind, why: formatSummary(serverRecord(configuration, name)) };
}

/** The full name that was most likely meant by one whose server is not known; undefined if it is no full name. */
export function closestFullName(name: string, servers: readonly string[]): string | undefined {
  const { server, tool } = guessToolName(name) ?? {};
  if (server === undefined || tool === undefined) return undefined;
  const closest = nearest(server, servers.map(normalizeName));
  return closest === undefined ? undefined : writtenToolName(closest, tool);
}
