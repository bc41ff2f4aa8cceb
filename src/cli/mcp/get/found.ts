import type { Configuration } from '../../../config/configuration.ts';
import type { ConfiguredServer, LostServer } from '../../../config/model.ts';
import type { Statuses } from '../connect.ts';
import { type Health, healthOf } from '../health.ts';
import { allLost } from '../outcome.ts';
import { unmetOf } from '../unmet.ts';

/** One name: the entry that has it, if one does, and those that do not count. */
export type Found = {
  readonly name: string;
  readonly server?: ConfiguredServer;
  readonly health?: Health;
  readonly lost: readonly LostServer[];
};

export function foundOf(configuration: Configuration, name: string, statuses: Statuses): Found {
  const server = configuration.merged.servers.find((it) => it.name === name);
  const lost = allLost(configuration).filter(({ written }) => written.name === name);
  return {
    name,
    lost,
    ...(server && { server, health: healthOf(server, statuses[name], unmetOf(configuration)) }),
  };
}
