import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin, realPath } from '../files/real-path.ts';
import type { Choice, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import {
  type ApprovalFile,
  loadApprovals,
  NO_APPROVALS,
  needsApproval,
  type TrustedRepository,
} from './approval-store.ts';
import { approvablePart, hashContent } from './approved-content.ts';
import { repositoryIdentity } from './repository-identity.ts';

/** What people on this machine have said about what lies in projects. */
export type Approvals = {
  /** Of an entry in scope `project` or `local`; an entry from elsewhere needs no approval. */
  ofServer(written: WrittenServer): Choice;
  /** Of what a settings file in a project would allow, run or set; deny and ask rules need no approval. */
  ofSettings(source: Pick<SettingsSource, 'scope' | 'path' | 'value'>): Choice;
  /** Whether somebody said that everything there counts, now and later. */
  isTrusted(path: string): boolean;
};

/** Reads them; what cannot be read approves nothing, and is told. */
export async function readApprovals(
  home: string,
): Promise<{ readonly choices: Approvals; readonly fault?: string }> {
  const file = loadApprovals(home);
  return 'fault' in file
    ? { choices: approvalsOf(NO_APPROVALS), fault: file.fault }
    : { choices: approvalsOf(file) };
}

/** What the file says; where things really are is looked up once for each path. */
export function approvalsOf({ servers, settings, trusted }: ApprovalFile): Approvals {
  const places = new Map<string, string>();
  const placeOf = (path: string): string => {
    const place = places.get(path) ?? realPath(path);
    places.set(path, place);
    return place;
  };
  const serverChoices = new Map(servers.map((it) => [keyOf(it.scope, it.path, it.name, it.hash), it.choice]));
  const known = new Set(servers.map(({ scope, path, name }) => keyOf(scope, path, name)));
  const rejected = servers.filter(({ choice }) => choice === 'rejected');
  const refused = new Set(rejected.map(({ path, name, hash }) => keyOf(path, name, hash)));
  const fileChoices = new Map(settings.map((it) => [keyOf(it.scope, it.path, it.hash), it.choice]));
  const refusedFiles = new Set(
    settings.filter(({ choice }) => choice === 'rejected').map(({ path, hash }) => keyOf(path, hash)),
  );
  const approvedFiles = settings.filter(({ choice }) => choice === 'approved');
  const knownFiles = new Set(approvedFiles.map(({ scope, path }) => keyOf(scope, path)));
  const covered = new Map<string, boolean>();
  const isTrusted = (path: string) => {
    const place = placeOf(path);
    const isCovered = covered.get(place) ?? trustAbove(place, trusted) !== undefined;
    covered.set(place, isCovered);
    return isCovered;
  };

  return {
    ofServer({ scope, path, name, raw }) {
      if (!needsApproval(scope)) return 'approved';
      const hash = hashContent(raw);
      if (path === undefined || hash === undefined) return 'new';
      const place = placeOf(path);
      const choice = serverChoices.get(keyOf(scope, place, name, hash));
      if (choice !== undefined) return choice;
      // Who said no to this very entry means it, also in a repository they trust, and by way of a link.
      if (refused.has(keyOf(place, name, hash))) return 'rejected';
      if (isTrusted(path)) return 'approved';
      return known.has(keyOf(scope, place, name)) ? 'changed' : 'new';
    },
    ofSettings({ scope, path, value }) {
      const part = approvablePart(value);
      if (!needsApproval(scope) || part === undefined) return 'approved';
      const hash = hashContent(part);
      if (path === undefined || hash === undefined) return 'new';
      const place = placeOf(path);
      const choice = fileChoices.get(keyOf(scope, place, hash));
      if (choice !== undefined) return choice;
      if (refusedFiles.has(keyOf(place, hash))) return 'rejected';
      if (isTrusted(path)) return 'approved';
      return knownFiles.has(keyOf(scope, place)) ? 'changed' : 'new';
    },
    isTrusted,
  };
}

/** No path and no name of a server may look like two parts. */
function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

/**
 * The trusted repository that contains a place, if any. A repository nested in a trusted one is not trusted: its own
 * `.git` ends the trust, and a pull cannot create one. Another repository at a trusted path is not trusted.
 */
function trustAbove(place: string, trusted: readonly TrustedRepository[]): string | undefined {
  return trusted.find(
    ({ path, identity }) =>
      isWithin(place, path) && !hasRepositoryBelow(path, place) && repositoryIdentity(path) === identity,
  )?.path;
}

function hasRepositoryBelow(root: string, place: string): boolean {
  for (let at = place; at !== root; at = dirname(at)) if (existsSync(join(at, '.git'))) return true;
  return false;
}
