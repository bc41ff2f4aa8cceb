import { join } from 'node:path';
import type { ServerEntry } from '../../host/connect/world.ts';
import type { HostTool } from '../../host/host-options.ts';
import type { ToolChange } from '../../host/pin/judge.ts';
import { openPins } from '../../host/pin/open-pins.ts';
import { placeOf } from '../../host/pin/place-of.ts';
import type { ServerMap } from './server-flags.ts';
import { homeOf } from './with-host.ts';

/** Tools that are not what agents accepted of them; nothing is accepted or remembered by looking. */
export function changedTools(
  servers: ServerMap,
  tools: readonly HostTool[],
  env: NodeJS.ProcessEnv,
): readonly ToolChange[] {
  const pins = openPins(join(homeOf(env), 'pins'), { mode: 'read' });
  return [...Map.groupBy(tools, ({ server }) => server)].flatMap(([server, its]) => {
    const place = placeOf(servers[server] as ServerEntry, process.cwd());
    return place === undefined ? [] : pins.observe({ server, place }, its).changes;
  });
}
