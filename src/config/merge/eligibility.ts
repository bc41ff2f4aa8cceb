import type { Approvals } from '../approval/approvals.ts';
import { SCOPES, type Source, type WrittenServer } from '../model.ts';

/** An entry that was written, and whether it may have its name at all. */
export type Candidate = {
  readonly written: WrittenServer;
  readonly eligibility: 'eligible' | 'pending' | 'rejected' | 'left-out' | 'managed';
  /** What a person would be asked about. */
  readonly choice?: 'new' | 'changed';
};

/** Every entry, the highest first. */
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
 * The managed file that excludes all others (R168), also if nothing of it can be read: who cannot know what is allowed
 * starts nothing. It is the first, since one that a variable names must not add to what the system's own says.
 */
export function managedSource(sources: readonly Source[]): Source | undefined {
  return sources.find(({ scope, state }) => scope === 'managed' && state !== 'absent');
}

const EVEN_IF_STRICT: ReadonlySet<string> = new Set(['program', 'managed']);

/** What lies in a project comes from elsewhere (R169, C18). */
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

type Placed = { readonly path?: string };

/**
 * Whether managed settings come after the managed file that an entry is of: the system's directory is the first, then the
 * one that a variable names, and flags are the last.
 */
export function managedOrder(sources: readonly Source[]): (settings: Placed, entry: Placed) => boolean {
  const directories = sources.flatMap(({ scope, path }) =>
    scope === 'managed' && path !== undefined ? [directoryOf(path)] : [],
  );
  const rank = ({ path }: Placed) => {
    const found = path === undefined ? -1 : directories.indexOf(directoryOf(path));
    return found < 0 ? directories.length : found;
  };
  return (settings, entry) => rank(settings) > rank(entry);
}

function directoryOf(path: string): string {
  return path.replace(/[^\\/]*$/, '');
}
