import type { Command } from 'commander';
import { nearest } from '../../base/nearest.ts';
import { type Configuration, readConfiguration } from '../../host/config/configuration.ts';
import { explainServer } from '../../host/config/explain/explain-server.ts';
import { inOneLine } from '../../host/config/explain/in-one-line.ts';
import { faultText } from '../../host/config/fault-text.ts';
import type { ConfiguredServer, Verdict } from '../../host/config/model.ts';
import { writtenOrder } from '../../host/config/written-order.ts';
import type { HostServerEntry } from '../../host/host-options.ts';
import { cliWorld } from './config-world.ts';
import { flagConfigs, refuse, type ServerMap } from './server-flags.ts';

/** The servers a command works with. */
export type NamedServers = {
  /** Those that may be started. */
  readonly servers: ServerMap;
  readonly configuration: Configuration;
  /** Those that are configured and may not be started, and why. */
  readonly aside: readonly Aside[];
};

export type Aside = {
  readonly server: string;
  readonly state: Verdict['kind'];
  /** One sentence, and what to do. */
  readonly why: string;
};

/**
 * The servers that flags name, and no others; without such flags, those that are configured here. With `wanted`, only
 * these of them. What cannot be used ends the command with 2.
 */
export async function namedServers(command: Command, wanted?: readonly string[]): Promise<NamedServers> {
  const mcpConfigs = flagConfigs(command);
  const world = cliWorld(process.env);
  const configuration = await readConfiguration(world, mcpConfigs ? { mcpConfigs, isStrict: true } : {});
  refuseUnreadable(command, configuration);
  const known = new Map(writtenOrder(configuration).map((server) => [server.name, server]));
  if (known.size === 0) refuse(command, nobody(configuration));
  const names = wanted ?? [...known.keys()];
  for (const name of names) if (!known.has(name)) refuse(command, unknownServer(name, [...known.keys()]));
  const chosen = names.map((name) => known.get(name) as ConfiguredServer);
  const isReady = ({ verdict }: ConfiguredServer) => verdict.kind === 'ready';
  const ready = chosen.filter(isReady).map(({ name, entry }) => [name, entry as HostServerEntry] as const);
  return {
    servers: Object.fromEntries(ready),
    configuration,
    aside: chosen.filter((it) => !isReady(it)).map((it) => asideOf(configuration, it)),
  };
}

/** A file that somebody names must be there; one that is only looked for need not. */
function refuseUnreadable(command: Command, { sources }: Configuration): void {
  const unusable = sources.find(({ scope, state }) => scope === 'program' && state === 'unusable');
  if (unusable) refuse(command, unusable.faults.map(faultText).join('; '));
}

/** Files that cannot be read may be why. */
function nobody({ faults, merged }: Configuration): string {
  const why = faults.filter(({ level }) => level === 'error').map(faultText);
  const pending = merged.lost.some(({ why }) => why === 'pending');
  const hint = pending ? ', approve those of the project with "toolplane mcp approve"' : '';
  return [
    `there are no servers: add one with "toolplane mcp add"${hint}, or name some with --mcp-config <file>, --stdio <command> or --url <url>`,
    ...why,
  ].join('; ');
}

function unknownServer(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return `there is no server "${name}"${hint} (there are ${known.join(', ')})`;
}

function asideOf(configuration: Configuration, { name, verdict }: ConfiguredServer): Aside {
  return { server: name, state: verdict.kind, why: inOneLine(explainServer(configuration, name)) };
}
