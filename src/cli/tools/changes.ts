import { join } from 'node:path';
import { nearest } from '../../base/text/nearest.ts';
import type { ToolChange } from '../../pool/pinning/judge.ts';
import { openPins } from '../../pool/pinning/open-pins.ts';
import type { Pins } from '../../pool/pinning/pins.ts';
import { errorDocument } from '../host/failure.ts';
import { jsonText, lines } from '../host/lines.ts';
import { NotUnderstood } from '../host/not-understood.ts';
import { type Output, processOutput } from '../host/output.ts';
import { homeOf } from '../host/with-host.ts';
import { changeTable } from './change-table.ts';

export type ChangesRequest = {
  readonly format: 'text' | 'json';
} & (
  | { readonly action: 'changed'; readonly servers?: readonly string[] }
  | { readonly action: 'accept'; readonly server: string; readonly tool?: string }
);

/** `toolplane tools --changed` and `tools accept`: no server is connected; gives the exit code. */
export async function startChanges(request: ChangesRequest, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  const pins = openPins(join(homeOf(env), 'pins'), { note: output.tell });
  try {
    if (request.action === 'changed') return await list(pins, request, output);
    mustWait(pins.all(), request);
  } catch (cause) {
    if (!(cause instanceof NotUnderstood)) throw cause;
    for (const line of cause.lines) output.tell(line);
    if (request.format === 'json') await output.print(jsonText(errorDocument(cause)));
    return 2;
  }
  const accepted = pins.accept(request.server, request.tool);
  const text = () => lines(changeTable(accepted, output.columns, 'accepted '));
  await output.print(request.format === 'json' ? jsonText({ accepted }) : text());
  return 0;
}

async function list(
  pins: Pins,
  { servers, format }: Extract<ChangesRequest, { action: 'changed' }>,
  output: Output,
): Promise<number> {
  const known = pins.servers;
  for (const name of servers?.filter((it) => !known.includes(it)) ?? []) {
    throw new NotUnderstood(`nothing is known of a server "${name}"${hint(name, known)}`);
  }
  const changes = pins.all().filter(({ server }) => servers === undefined || servers.includes(server));
  await output.print(format === 'json' ? jsonText({ changes }) : lines(changeTable(changes, output.columns)));
  if (changes.length === 0 && format !== 'json') output.tell('no tool waits to be accepted');
  return 0;
}

/** Whoever accepts nothing has named something else than they think. */
function mustWait(
  changes: readonly ToolChange[],
  { server, tool }: { readonly server: string; readonly tool?: string },
): void {
  const ofServer = changes.filter((it) => it.server === server);
  if (ofServer.length === 0) {
    const known = [...new Set(changes.map((it) => it.server))];
    throw new NotUnderstood(
      `no tool of server "${server}" waits to be accepted${hint(server, known) || LOOK}`,
    );
  }
  if (tool !== undefined && !ofServer.some((it) => it.tool === tool)) {
    const known = ofServer.map((it) => it.tool);
    throw new NotUnderstood(
      `server ${server} has no tool "${tool}" that waits to be accepted${hint(tool, known)}`,
    );
  }
}

const LOOK = '; toolplane tools --mcp-config <file> looks whether one changed';

function hint(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  if (meant !== undefined) return `; did you mean "${meant}"?`;
  return known.length > 0 ? ` (there are ${known.join(', ')})` : '';
}
