import type { Approvals } from '../approval/approvals.ts';
import { SCOPES, type Source, type WrittenServer } from '../model.ts';

/** An entry, and whether it may be used for its name. */
export type Candidate = {
  readonly written: WrittenServer;
  readonly eligibility: 'eligible' | 'pending' | 'rejected' | 'left-out' | 'managed';
  /** Why the user has to approve the entry. */
  readonly choice?: 'new' | 'changed';
};

/** All entries, highest precedence first. */
export function rankCandidates(input: {
  readonly sources: readonly Source[];
  readonly approvals: Pick<Approvals, 'ofServer'>;
  readonly isStrict?: boolean;
}): Candidate[] {
  const { sources, approvals, isStrict = false } = input;
  const ruling = managedSource(sources);
  return highestFirst(sources).flatMap((source) =>
    source.servers.toReversed().map((written): Candidate => {
      if (ruling && source !== ruling) return { written, eligibility: 'managed' };
      if (isStrict && !EVEN_IF_STRICT.has(written.scope)) return { written, eligibility: 'left-out' };
      return BY_APPROVAL.has(written.scope)
        ? approval(written, approvals)
        : { written, eligibility: 'eligible' };
    }),
  );
}

/**
 * The managed file that excludes all other servers (R168), also if it cannot be read, so that nothing is started against
 * the policy. Only the first one is used: a file in a directory that a variable adds cannot extend the system's own.
 */
export function managedSource(sources: readonly Source[]): Source | undefined {
  return sources.find(({ scope, state }) => scope === 'managed' && state !== 'absent');
}

const EVEN_IF_STRICT: ReadonlySet<string> = new Set(['program', 'managed']);

/** Entries in a project come from other people and need approval (R169, C18). */
const BY_APPROVAL: ReadonlySet<string> = new Set(['project', 'local']);

function approval(written: WrittenServer, approvals: Pick<Approvals, 'ofServer'>): Candidate {
  const choice = approvals.ofServer(written);
  switch (choice) {
    case 'approved':
      return { written, eligibility: 'eligible' };
    case 'rejected':
      return { written, eligibility: 'rejected' };
    case 'new':
    case 'changed':
      return { written, eligibility: 'pending', choice };
  }
}

function highestFirst(sources: readonly Source[]): readonly Source[] {
  const rank = ({ scope }: Source) => SCOPES.indexOf(scope);
  return sources.toReversed().toSorted((a, b) => rank(b) - rank(a));
}

type Located = { readonly path?: string };

/**
 * Compares the precedence of managed settings with that of the managed file of an entry: the system's directory is first,
 * then the one that a variable adds, then flags.
 */
export function managedOrder(sources: readonly Source[]): (settings: Located, entry: Located) => boolean {
  const directories = sources.flatMap(({ scope, path }) =>
    scope === 'managed' && path !== undefined ? [directoryOf(path)] : [],
  );
  const rank = ({ path }: Located) => {
    const found = path === undefined ? -1 : directories.indexOf(directoryOf(path));
    return found < 0 ? directories.length : found;
  };
  return (settings, entry) => rank(settings) > rank(entry);
}

function directoryOf(path: string): string {
  return path.replace(/[^\\/]*$/, '');
}
