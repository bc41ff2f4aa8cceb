import { hashContent } from '../../../config/approval/approved-content.ts';
import type { Configuration } from '../../../config/configuration.ts';
import type { FoundFile } from '../../../config/import/find-servers.ts';
import type { ImportedServer } from '../../../config/import/importer.ts';
import { signatureOf } from '../../../config/merge/merge-servers.ts';
import type { Scope, WrittenServer } from '../../../config/model.ts';
import type { WritableScope } from '../../../config/write/write-servers.ts';
import type { ExternalServerEntry } from '../../../protocol/server-entry.ts';
import { whereText } from '../entries.ts';

/** How a server of another program stands to those that are here; `where` says which one is meant. */
export type Comparison =
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
  readonly server: ImportedServer;
  readonly comparison: Comparison;
};

/** A server that is configured here and would be started, or stands in the file that is written. */
export type ExistingServer = {
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
export function candidatesOf(found: readonly FoundFile[], existing: readonly ExistingServer[]): Candidate[] {
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
  const before: Omit<Candidate, 'comparison'>[] = [];
  return ordered.map((candidate) => {
    const comparison =
      compareWithExisting(candidate.server, existing) ??
      compareWithOthers(candidate.server, before) ??
      newComparison(candidate.server, existing);
    // What is turned off, or new only by name, takes no place from a later one.
    if (comparison.kind === 'new' && !candidate.server.isOff) before.push(candidate);
    return { ...candidate, comparison };
  });
}

function compareWithExisting(
  { name, entry }: ImportedServer,
  existing: readonly ExistingServer[],
): Comparison | undefined {
  const isSame = sameAs(entry);
  const named = existing.find((it) => it.name === name && it.isInTarget);
  if (named) {
    const { where } = named;
    if (!isSame(named)) return { kind: 'differs', where };
    return { kind: 'there', where, replaces: hashContent(named.raw) !== hashContent(entry) };
  }
  const same = existing.find((it) => it.reachesAsFar && isSame(it));
  return same && { kind: 'there', where: whereOf(same, name), replaces: false };
}

function newComparison({ name, entry }: ImportedServer, existing: readonly ExistingServer[]): Comparison {
  const same = existing.find(sameAs(entry));
  return { kind: 'new', ...(same && { also: whereOf(same, name) }) };
}

function sameAs(entry: ImportedServer['entry']): (it: ExistingServer) => boolean {
  const signature = signatureIn(entry);
  return (it) => it.signature === signature;
}

function whereOf(existing: ExistingServer, name: string): string {
  return existing.name === name ? existing.where : `"${existing.name}" of ${existing.where}`;
}

function compareWithOthers(
  { name, entry }: ImportedServer,
  before: readonly Omit<Candidate, 'comparison'>[],
): Comparison | undefined {
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

/** What is here already: all in the file that is written, usable or not, and elsewhere what would be started. */
export function existingServers(
  { sources, merged }: Pick<Configuration, 'sources' | 'merged'>,
  target: { readonly scope: WritableScope; readonly path: string },
): ExistingServer[] {
  const inTarget = sources.flatMap(({ servers }) => servers.filter(({ path }) => path === target.path));
  const counted = merged.servers
    .filter(({ verdict }) => verdict.kind === 'ready' || verdict.kind === 'disabled')
    .map(({ written }) => written);
  const others = counted.filter(({ path }) => path !== target.path);
  return [...inTarget, ...others].map((written) => existing(written, target));
}

function existing(
  written: WrittenServer,
  target: { readonly scope: WritableScope; readonly path: string },
): ExistingServer {
  const { name, raw, entry, path, scope } = written;
  const signature = entry && signatureOf(entry);
  return {
    name,
    raw,
    ...(signature !== undefined && { signature }),
    where: whereText(written),
    isInTarget: path === target.path,
    // What this project alone has is in no other.
    reachesAsFar: target.scope !== 'user' || !IN_PROJECT.has(scope),
  };
}

const IN_PROJECT: ReadonlySet<Scope> = new Set(['project', 'local']);

/** What `--all` takes, or why it leaves a server. */
type ImportDecision = { readonly kind: 'take' } | { readonly kind: 'leave'; readonly why: string };

type TakeOptions = { readonly force: boolean; readonly projectFiles: boolean };

/** Decides without a person: nothing is replaced without `force`, nothing taken from the project without a word of it. */
export function decideImport(
  { comparison, server, isOfProject }: Candidate,
  options: TakeOptions,
): ImportDecision {
  const refusal = refusalReason(comparison, options);
  if (refusal !== undefined) return { kind: 'leave', why: refusal };
  if (server.isOff) return { kind: 'leave', why: 'it is turned off there' };
  if (isOfProject && !options.projectFiles) {
    return { kind: 'leave', why: 'it stands in a file of the project, which --project-files takes' };
  }
  return { kind: 'take' };
}

/** Whether a person can be asked about it at all. */
export function isOpenToChoice({ comparison }: Candidate): boolean {
  return comparison.kind === 'new' || comparison.kind === 'differs';
}

/** Whether something of that name was in the way, which whoever wanted all of them must learn. */
export function isConflict({ comparison }: Candidate): boolean {
  return comparison.kind === 'differs' || comparison.kind === 'clash';
}

function refusalReason(comparison: Candidate['comparison'], { force }: TakeOptions): string | undefined {
  switch (comparison.kind) {
    case 'new':
      return undefined;
    case 'there':
      return comparison.replaces && force ? undefined : `it is already there: ${comparison.where}`;
    case 'differs':
      return force
        ? undefined
        : `another one of that name is there: ${comparison.where}; --force replaces it`;
    case 'twin':
      return `it is the same as that of ${comparison.where}`;
    case 'clash':
      return `${comparison.where} has another one of that name; name this source alone to take it`;
  }
}
