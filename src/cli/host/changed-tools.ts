import { join } from 'node:path';
import type { HostTool } from '../../host/host-options.ts';
import { isTrustedEntry, type ServerEntry } from '../../mcp/connection/connect-context.ts';
import { acceptCommand } from '../../pool/pinning/accept-command.ts';
import type { ToolChange } from '../../pool/pinning/judge.ts';
import { openPins } from '../../pool/pinning/open-pins.ts';
import { placeOf } from '../../pool/pinning/place-of.ts';
import type { ServerMap } from './server-flags.ts';
import { homeOf } from './with-host.ts';

/** Tools that are not what was accepted of them. They wait to be accepted from now on; nothing is accepted by looking. */
export function changedTools(
  servers: ServerMap,
  tools: readonly HostTool[],
  env: NodeJS.ProcessEnv,
  note: (text: string) => void,
): readonly ToolChange[] {
  const pins = openPins(join(homeOf(env), 'pins'), { note });
  return [...Map.groupBy(tools, ({ server }) => server)].flatMap(([server, its]) => {
    const entry = servers[server] as ServerEntry;
    const place = placeOf(entry, process.cwd());
    if (place === undefined) return [];
    return pins.observe({ server, place, isTrusted: isTrustedEntry(entry) }, its, 'leave').changes;
  });
}

/** How it differs, and what to type if that is well. */
export function sayChange(change: ToolChange): string {
  return `${change.text}; to accept it: ${acceptCommand(change)}`;
}
