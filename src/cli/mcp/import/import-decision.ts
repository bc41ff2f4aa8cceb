import { hashContent } from '../../../config/approval/approved-content.ts';
import type { Configuration } from '../../../config/configuration.ts';
import type { ImportedServer } from '../../../config/import/convert-entry.ts';
import type { FoundFile } from '../../../config/import/find-servers.ts';
import { signatureOf } from '../../../config/merge/merge-servers.ts';
import type { Scope, WrittenServer } from '../../../config/model.ts';
import type { WritableScope } from '../../../config/write/write-servers.ts';
import type { ExternalServerEntry } from '../../../protocol/server-entry.ts';
import { whereText } from '../entries.ts';

/** How a server of another program compares with the configured servers; `where` is the other entry. */
export type Comparison =
  /** `also`: the same server exists in a narrower scope, such as only in this project. */
  | { readonly kind: 'new'; readonly also?: string }
  /** The same server exists; `replaces` if it has the same name in the target file and other members differ. */
  | { readonly kind: 'there'; readonly where: string; readonly replaces: boolean }
  /** The name exists in the target file and connects to another server. */
  | { readonly kind: 'differs'; readonly where: string }
  /** An earlier program has the same server (`twin`) or another server of that name (`clash`). */
  | { readonly kind: 'twin' | 'clash'; readonly where: string };

export type Candidate = {
  /** The identifier on the command line. */
  readonly source: string;
  readonly title: string;
  readonly path: string;
  /** The server is in a file of the project, which may come from an untrusted author. */
  readonly isOfProject: boolean;
  readonly server: ImportedServer;
  readonly comparison: Comparison;
};

/** A configured server that would be started, or any entry in the target file. */
export type ExistingServer = {
  readonly name: string;
  readonly raw: unknown;
  /** The identity of the server: its command or URL. Undefined for a broken entry. */
  readonly signature?: string;
  readonly where: string;
  readonly isInTarget: boolean;
  /** The server is available wherever the imported entry will be. */
  readonly reachesAsFar: boolean;
};

/** Every server that was found, with its comparison; those of user files come first. */
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
    // A disabled server does not make a later one a duplicate.
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

/** Every entry in the target file, usable or not, and the servers of other files that would be started. */
export function existingServers(
  { sources, merged }: Pick<Configuration, 'sources' | 'merged'>,
  target: { readonly scope: WritableScope; readonly path: string },
): ExistingServer[] {
  const inTarget = sources.flatMap(({ servers }) => servers.filter(({ path }) => path === target.path));
  const active = merged.servers
    .filter(({ verdict }) => verdict.kind === 'ready' || verdict.kind === 'disabled')
    .map(({ written }) => written);
  const others = active.filter(({ path }) => path !== target.path);
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
    // A server of this project is not available in other projects.
    reachesAsFar: target.scope !== 'user' || !IN_PROJECT.has(scope),
  };
}

const IN_PROJECT: ReadonlySet<Scope> = new Set(['project', 'local']);

/** Whether `--all` imports a server, or why not. */
type ImportDecision = { readonly kind: 'take' } | { readonly kind: 'leave'; readonly why: string };

type TakeOptions = { readonly force: boolean; readonly projectFiles: boolean };

/** Decides without asking: entries are replaced only with `force`, project files are imported only with `projectFiles`. */
export function decideImport(
  { comparison, server, isOfProject }: Candidate,
  options: TakeOptions,
): ImportDecision {
  const refusal = refusalReason(comparison, options);
  if (refusal !== undefined) return { kind: 'leave', why: refusal };
  if (server.isOff) return { kind: 'leave', why: 'disabled in the other program' };
  if (isOfProject && !options.projectFiles) {
    return { kind: 'leave', why: 'in a project file; use --project-files to import it' };
  }
  return { kind: 'take' };
}

/** Whether the user is asked about the server. */
export function isOpenToChoice({ comparison }: Candidate): boolean {
  return comparison.kind === 'new' || comparison.kind === 'differs';
}

/** Whether another server has the name, so that `--all` did not import this one. */
export function isConflict({ comparison }: Candidate): boolean {
  return comparison.kind === 'differs' || comparison.kind === 'clash';
}

function refusalReason(comparison: Candidate['comparison'], { force }: TakeOptions): string | undefined {
  switch (comparison.kind) {
    case 'new':
      return undefined;
    case 'there':
      return comparison.replaces && force ? undefined : `already configured: ${comparison.where}`;
    case 'differs':
      return force
        ? undefined
        : `another server has this name: ${comparison.where}; use --force to replace it`;
    case 'twin':
      return `the same server as in ${comparison.where}`;
    case 'clash':
      return `${comparison.where} has another server of this name; to import this one, run the import with this source only`;
  }
}
