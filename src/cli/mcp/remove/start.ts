import { type Configuration, readConfiguration } from '../../../config/configuration.ts';
import type { WrittenServer } from '../../../config/model.ts';
import { removeServer, type WritableScope } from '../../../config/write/write-servers.ts';
import { line } from '../../chat/piece.ts';
import { Failed } from '../../host/failure.ts';
import { NotUnderstood } from '../../host/not-understood.ts';
import { entriesOf, unknownServer } from '../known-server.ts';
import { verdictText } from '../outcome.ts';
import { inSession } from '../session.ts';
import type { McpFormat } from '../sub-command.ts';
import { entryText, whereDocument, whereText } from '../where.ts';

export type RemoveRequest = { readonly name: string; readonly scope?: WritableScope };

/** `toolplane mcp remove`; gives its exit code. */
export function startRemove(
  request: RemoveRequest,
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async ({ world, answer }) => {
    const { name } = request;
    const before = await readConfiguration(world);
    const meant = meantEntry(before, request);
    if (!removeServer(world, meant.path, name)) {
      throw new Failed(`${whereText(meant)}: somebody else has just removed "${name}"`);
    }
    const after = await readConfiguration(world);
    const now = after.merged.servers.find((it) => it.name === name);
    const removed = { name, ...whereDocument(meant) };
    await answer({
      document: {
        removed,
        ...(now && { now: { ...whereDocument(now.written), verdict: now.verdict.kind } }),
      },
      pieces: [
        line('removed ', [name, 'strong'], ` (${entryText(meant.raw)}) from ${whereText(meant)}`),
        line(`  ${leftText(before, after, name)}`),
      ],
    });
    return 0;
  });
}

type Judged = Pick<Configuration, 'merged'>;

/** What counts under the name from now on, or did all the time. */
export function leftText(before: Judged, after: Judged, name: string): string {
  const [was, now] = [before, after].map(({ merged }) => merged.servers.find((it) => it.name === name));
  if (!now) return `no server is called "${name}" any more`;
  const isSame = was?.written.path === now.written.path && was?.written.label === now.written.label;
  const verdict = verdictText(name, now.verdict);
  const place = `the one of ${whereText(now.written)} (${entryText(now.written.raw)})`;
  if (verdict === undefined) return `${place} ${isSame ? 'still counts' : 'counts now'}`;
  return `${place} ${isSame ? 'still has the name' : 'has the name now'}: ${verdict}`;
}

type Removable = WrittenServer & { readonly path: string };

/** The one entry that is meant; of one scope the nearest. */
function meantEntry(configuration: Configuration, { name, scope }: RemoveRequest): Removable {
  const all = entriesOf(configuration, name);
  if (all.length === 0) throw unknownServer(configuration, name);
  const own = all.filter(isOurs);
  const [first] = own;
  if (!first) {
    const places = all.map(whereText).join('; ');
    throw new NotUnderstood(`"${name}" is none that can be removed here: it comes from ${places}`);
  }
  const scopes = [...new Set(own.map((it) => it.scope))];
  if (scope === undefined && scopes.length > 1) {
    const places = own.map((it) => `--scope ${it.scope} (${it.label})`).join(', ');
    throw new NotUnderstood(`"${name}" is in ${scopes.length} scopes; say which one: ${places}`);
  }
  const meant = scope === undefined ? first : own.find((it) => it.scope === scope);
  if (meant) return meant;
  const there = own.map(whereText).join('; ');
  throw new NotUnderstood(`there is no server "${name}" in scope ${scope}; it is in ${there}`);
}

function isOurs(written: WrittenServer): written is Removable {
  return written.path !== undefined && ['local', 'project', 'user'].includes(written.scope);
}
