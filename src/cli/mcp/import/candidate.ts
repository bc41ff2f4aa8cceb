import { hashEntry } from '../../../config/approval/approved-content.ts';
import type { FoundFile } from '../../../config/import/find-servers.ts';
import type { ForeignServer } from '../../../config/import/importer.ts';
import { signatureOf } from '../../../config/merge/merge-servers.ts';
import type { ExternalServerEntry } from '../../../protocol/server-entry.ts';

/** How a server of another program stands to those that are here; `where` says which one is meant. */
export type Standing =
  /** `also`: the same one is there for less than what is written, such as for this project only. */
  | { readonly kind: 'new'; readonly also?: string }
  /** It leads to the same; `replaces` if it has the same name in the same file, and not all members are the same. */
  | { readonly kind: 'there'; readonly where: string; readonly replaces: boolean }
  /** One of that name leads elsewhere. */
  | { readonly kind: 'differs'; readonly where: string }
  /** Another program's comes first: the same one, or one of that name. */
  | { readonly kind: 'twin' | 'clash'; readonly where: string };

export type Candidate = {
  /** The word of the command line. */
  readonly source: string;
  readonly title: string;
  readonly path: string;
  /** It stands in a file of the project, which anybody may have written. */
  readonly isOfProject: boolean;
  readonly server: ForeignServer;
  readonly standing: Standing;
};

/** A server that is configured here and would be started, or stands in the file that is written. */
export type Existing = {
  readonly name: string;
  readonly raw: unknown;
  /** What it leads to; a broken one leads nowhere. */
  readonly signature?: string;
  readonly where: string;
  readonly isInTarget: boolean;
  /** It is there wherever what is written will be. */
  readonly reachesAsFar: boolean;
};

/** Every server that was found, and how it stands; those of the person's own files come first. */
export function candidatesOf(found: readonly FoundFile[], existing: readonly Existing[]): Candidate[] {
  const all = found.flatMap(({ tool, place, servers }) =>
    servers.map((server) => ({
      source: tool.id,
      title: tool.title,
      path: place.path,
      isOfProject: place.from === 'project',
      server,
    })),
  );
  const ordered = [...all.filter((it) => !it.isOfProject), ...all.filter((it) => it.isOfProject)];
  const before: Omit<Candidate, 'standing'>[] = [];
  return ordered.map((candidate) => {
    const standing =
      standingHere(candidate.server, existing) ??
      standingAmong(candidate.server, before) ??
      standingAlone(candidate.server, existing);
    // What is turned off, or new only by name, takes no place from a later one.
    if (standing.kind === 'new' && !candidate.server.isOff) before.push(candidate);
    return { ...candidate, standing };
  });
}

function standingHere({ name, entry }: ForeignServer, existing: readonly Existing[]): Standing | undefined {
  const isSame = sameAs(entry);
  const named = existing.find((it) => it.name === name && it.isInTarget);
  if (named) {
    const { where } = named;
    if (!isSame(named)) return { kind: 'differs', where };
    return { kind: 'there', where, replaces: hashEntry(named.raw) !== hashEntry(entry) };
  }
  const same = existing.find((it) => it.reachesAsFar && isSame(it));
  return same && { kind: 'there', where: whereOf(same, name), replaces: false };
}

function standingAlone({ name, entry }: ForeignServer, existing: readonly Existing[]): Standing {
  const same = existing.find(sameAs(entry));
  return { kind: 'new', ...(same && { also: whereOf(same, name) }) };
}

function sameAs(entry: ForeignServer['entry']): (it: Existing) => boolean {
  const signature = signatureIn(entry);
  return (it) => it.signature === signature;
}

function whereOf(existing: Existing, name: string): string {
  return existing.name === name ? existing.where : `"${existing.name}" of ${existing.where}`;
}

function standingAmong(
  { name, entry }: ForeignServer,
  before: readonly Omit<Candidate, 'standing'>[],
): Standing | undefined {
  const signature = signatureIn(entry);
  const twin = before.find(({ server }) => signatureIn(server.entry) === signature);
  if (twin) {
    return {
      kind: 'twin',
      where: twin.server.name === name ? twin.title : `"${twin.server.name}" of ${twin.title}`,
    };
  }
  const rival = before.find(({ server }) => server.name === name);
  return rival && { kind: 'clash', where: rival.title };
}

function signatureIn(entry: Readonly<Record<string, unknown>>): string {
  return signatureOf(entry as ExternalServerEntry);
}
