import type { Configuration } from '../../../config/configuration.ts';
import { faultText } from '../../../config/files/diagnostics.ts';
import { type Statuses, withStatuses } from '../connect.ts';
import { freshConfiguration } from '../fresh-configuration.ts';
import { isTrouble, rowsOf } from '../health.ts';
import { allLost } from '../outcome.ts';
import { inSession, type Session } from '../session.ts';
import type { McpFormat } from '../sub-command.ts';
import { unmetOf } from '../unmet.ts';
import { whereDocument } from '../where.ts';
import { emptyText } from './empty-text.ts';
import { listPieces } from './list-pieces.ts';

/** `toolplane mcp list`; gives its exit code. */
export function startList(
  { connects }: { readonly connects: boolean },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await freshConfiguration(session, {}, connects ? 'ask' : 'remember');
    const dialled = connects ? configuration.merged.servers : [];
    return withStatuses(session, configuration, dialled, (statuses) =>
      show(session, configuration, statuses),
    );
  });
}

async function show(session: Session, configuration: Configuration, statuses: Statuses): Promise<number> {
  const rows = rowsOf(configuration, statuses, unmetOf(configuration));
  const { faults, settings } = configuration;
  const notes = [...configuration.unused, ...excluded(configuration)];
  await session.answer({
    document: {
      servers: rows.map(({ name, written, health }) => ({ name, ...whereDocument(written), ...health })),
      faults: faults.map((fault) => ({ level: fault.level, text: faultText(fault) })),
      notes,
      pendingSettings: settings.pending,
    },
    pieces: listPieces(rows, emptyText(configuration)),
  });
  // What a row says already is not said twice.
  const told = rows.map(({ health }) => health.text);
  const lines = faults.map(faultText).filter((text) => !told.some((it) => it.includes(text)));
  for (const line of [...lines, ...notes]) session.tell(line);
  for (const { label, choice } of settings.pending) {
    const what = choice === 'changed' ? 'changed since you approved it' : 'is not approved';
    session.tell(`${label} ${what}: of it only what forbids counts; toolplane mcp approve`);
  }
  const isBroken = faults.some(({ level }) => level === 'error');
  return isBroken || rows.some(({ health }) => isTrouble(health)) ? 1 : 0;
}

/** Who has servers that a managed file excludes would look for them in vain. */
function excluded(configuration: Configuration): string[] {
  const count = allLost(configuration).filter(({ why }) => why === 'managed').length;
  if (count === 0) return [];
  const what = count === 1 ? '1 server of another scope does' : `${count} servers of other scopes do`;
  return [`${what} not count: on this machine only those of the managed file do`];
}
