import { shellWord } from '../../../base/text/display-text.ts';
import { readConfiguration } from '../../../config/configuration.ts';
import { maskEntry } from '../../../config/explain/mask-entry.ts';
import { keyText } from '../../../config/files/diagnostics.ts';
import { relativePath } from '../../../config/merge/resolve-server.ts';
import { homeLabel } from '../../../config/sources/config-paths.ts';
import { pathOfScope, type WritableScope, writeServer } from '../../../config/write/write-servers.ts';
import type { ExternalServerEntry } from '../../../protocol/server-entry.ts';
import { line } from '../../chat/piece.ts';
import { Failed } from '../../host/failure.ts';
import { NotUnderstood } from '../../host/not-understood.ts';
import { entriesOf } from '../known-server.ts';
import { outcomeOf } from '../outcome.ts';
import type { Session } from '../session.ts';
import { entryText, whereDocument, whereText } from '../where.ts';
import type { GivenEntry } from './given-entry.ts';
import { secretAdvice } from './secret-advice.ts';
import { faultOfName } from './usable-name.ts';

export type StoreRequest = {
  readonly name: string;
  readonly scope: WritableScope;
  readonly given: GivenEntry;
  /** Replaces what is there, and writes secrets into a file that is shared. */
  readonly force: boolean;
};

/** Writes one entry into the file of a scope and says what became of it. */
export async function storeServer(session: Session, request: StoreRequest): Promise<number> {
  const { world } = session;
  const { name, scope, force } = request;
  const { entry, notes: ofEntry = [] } = usable(request);
  const advice = secretAdvice(name, entry);
  if (scope === 'project' && advice.length > 0 && !force) {
    throw new NotUnderstood(
      ...advice,
      'the file of a project is shared, so nothing was written; --force writes it',
    );
  }
  const path = pathOfScope(world, scope);
  const before = entriesOf(await readConfiguration(world), name).find((it) => it.path === path);
  if (before && !force) {
    const there = `${whereText(before)} has a server "${name}" (${entryText(before.raw)})`;
    throw new Failed(
      `${there}; --force replaces it, toolplane mcp remove ${shellWord(name)} -s ${scope} removes it`,
    );
  }
  const written = writeServer(world, scope, name, entry);
  const outcome = outcomeOf(await readConfiguration(world), name, written.path);
  const notes = [...ofEntry, ...advice, ...relativeAdvice(scope, entry)];
  const what = written.hadOne ? 'replaced' : 'added';
  const place = `${homeLabel(written.path, world)} (scope ${scope}${written.isNew ? ', a new file' : ''})`;
  await session.answer({
    document: {
      [what]: { name, scope, path: written.path, entry: maskEntry(entry) },
      verdict: outcome.verdict,
      shadows: outcome.shadows.map(whereDocument),
      ...(outcome.winner && { winner: whereDocument(outcome.winner) }),
      notes: [...notes, ...outcome.lines],
    },
    pieces: [
      line(`${what} `, [name, 'strong'], ` (${entryText(entry)}) in ${place}`),
      ...outcome.lines.map((it) => line(`  ${it}`)),
    ],
  });
  for (const note of notes) session.tell(note);
  return 0;
}

/** What a relative path means there, if it may not be what was meant. */
function relativeAdvice(scope: WritableScope, entry: Readonly<Record<string, unknown>>): string[] {
  const found = relativePath(scope, entry as ExternalServerEntry);
  return found ? [`${keyText(found.where)}: ${found.message}`] : [];
}

/** What can be said of the request without looking at any file. */
function usable({ name, scope, given }: StoreRequest): Extract<GivenEntry, { kind: 'entry' }> {
  const faults = [faultOfName(name) ?? [], given.kind === 'faulty' ? given.faults : []].flat();
  if (given.kind === 'entry' && scope === 'project' && given.entry.trust === true) {
    faults.push('a file that is shared cannot ask to be trusted; use --scope local or user for trust');
  }
  if (given.kind === 'faulty' || faults.length > 0) throw new NotUnderstood(...faults);
  return given;
}
