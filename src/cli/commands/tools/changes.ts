import { join } from 'node:path';
import { pluralize } from '../../../base/text/display-text.ts';
import { didYouMean } from '../../../base/text/nearest.ts';
import { openPins, type Pins } from '../../../pool/pinning/pins.ts';
import type { ToolChange } from '../../../pool/pinning/tool-change.ts';

import { homeDirectory } from '../../host/with-host.ts';
import { reportFailure, UsageError } from '../../output/failure.ts';
import { joinLines, jsonDocument } from '../../output/format.ts';
import { type Output, processOutput } from '../../output/output.ts';
import { table } from '../../terminal/table.ts';

type ChangesRequest = {
  readonly format: 'text' | 'json';
} & (
  | { readonly action: 'changed'; readonly servers?: readonly string[] }
  | { readonly action: 'accept'; readonly server: string; readonly tool?: string }
);

/** `toolplane tools --changed` and `tools accept`: does not connect to servers. */
export async function startChanges(request: ChangesRequest, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  const pins = openPins(join(homeDirectory(env), 'pins'), { note: output.report });
  try {
    if (request.action === 'changed') return await list(pins, request, output);
    mustWait(pins.all(), request);
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    return reportFailure(cause, output, request.format);
  }
  const accepted = pins.accept(request.server, request.tool);
  const text = () => joinLines(changeTable(accepted, output.columns, 'accepted '));
  await output.print(request.format === 'json' ? jsonDocument({ accepted }) : text());
  return 0;
}

async function list(
  pins: Pins,
  { servers, format }: Extract<ChangesRequest, { action: 'changed' }>,
  output: Output,
): Promise<number> {
  const known = pins.servers;
  for (const name of servers?.filter((it) => !known.includes(it)) ?? []) {
    throw new UsageError(
      `no tools of server "${name}" have been accepted yet${hint(name, known)}; check the name, or connect the server once in an agent`,
    );
  }
  const changes = pins.all().filter(({ server }) => servers === undefined || servers.includes(server));
  await output.print(
    format === 'json' ? jsonDocument({ changes }) : joinLines(changeTable(changes, output.columns)),
  );
  if (changes.length === 0 && format !== 'json') output.report('no tool is pending acceptance');
  return 0;
}

/** A name without pending changes is a usage error. */
function mustWait(
  changes: readonly ToolChange[],
  { server, tool }: { readonly server: string; readonly tool?: string },
): void {
  const ofServer = changes.filter((it) => it.server === server);
  if (ofServer.length === 0) {
    const known = [...new Set(changes.map((it) => it.server))];
    throw new UsageError(`no tool of server "${server}" is pending acceptance${hint(server, known) || LOOK}`);
  }
  if (tool !== undefined && !ofServer.some((it) => it.tool === tool)) {
    const known = ofServer.map((it) => it.tool);
    throw new UsageError(
      `server ${server} has no tool "${tool}" that is pending acceptance${hint(tool, known)}`,
    );
  }
}

const LOOK = '; run "toolplane tools" to check for changes';

function hint(word: string, known: readonly string[]): string {
  return didYouMean(word, known) || (known.length > 0 ? ` (known: ${known.join(', ')})` : '');
}

/** The differences from accepted definitions, one per line, below server and tool. */
export function changeTable(
  changes: readonly ToolChange[],
  columns: number | undefined,
  word: '' | 'accepted ' = '',
): string[] {
  return changes.flatMap(({ server, tool, differences, text }) => {
    const head =
      differences.length > 0
        ? `${word}${server} ${tool} (${pluralize(countOf(differences), 'change')})`
        : `${word}${server} ${tool}`;
    const rows = differences.map((it) => [it.severity, it.text]);
    return [
      ...table([[head]], { columns }),
      ...table(rows.length > 0 ? rows : [[text]], { columns: undefined, indent: 2 }),
    ];
  });
}

/** A summarized difference counts as the number it summarizes. */
function countOf(differences: ToolChange['differences']): number {
  return differences.reduce((sum, { count = 1 }) => sum + count, 0);
}
