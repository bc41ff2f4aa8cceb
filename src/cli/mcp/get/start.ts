import { lossText } from '../../../config/explain/entry-status.ts';
import { maskEntry } from '../../../config/explain/mask-entry.ts';
import { withStatuses } from '../connect.ts';
import { freshConfiguration } from '../fresh-configuration.ts';
import { isTrouble } from '../health.ts';
import { entriesOf, unknownServer } from '../known-server.ts';
import { verdictText } from '../outcome.ts';
import { inSession, type Session } from '../session.ts';
import type { McpFormat } from '../sub-command.ts';
import { whereDocument } from '../where.ts';
import { type Found, foundOf } from './found.ts';
import { getPieces } from './get-pieces.ts';

/** `toolplane mcp get`; gives its exit code. */
export function startGet(
  { name, connects }: { readonly name: string; readonly connects: boolean },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await freshConfiguration(session, {}, connects ? 'ask' : 'remember');
    if (entriesOf(configuration, name).length === 0) throw unknownServer(configuration, name);
    const server = configuration.merged.servers.find((it) => it.name === name);
    return withStatuses(session, configuration, server && connects ? [server] : [], (statuses) =>
      show(session, foundOf(configuration, name, statuses)),
    );
  });
}

async function show(session: Session, found: Found): Promise<number> {
  const { name, server, health, lost } = found;
  await session.answer({
    document: {
      name,
      ...(server && {
        defined: whereDocument(server.written),
        entry: maskEntry(server.written.raw),
        verdict: { kind: server.verdict.kind, text: verdictText(name, server.verdict) ?? 'ready' },
        settled: server.settled,
      }),
      ...(health && { health }),
      lost: lost.map((it) => ({
        ...whereDocument(it.written),
        entry: maskEntry(it.written.raw),
        why: it.why,
        text: lossText(it),
      })),
    },
    pieces: getPieces(found),
  });
  return health === undefined || isTrouble(health) ? 1 : 0;
}
