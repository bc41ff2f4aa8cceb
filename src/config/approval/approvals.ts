import { realPath } from '../files/read-text.ts';
import type { Choice, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { type ApprovalFile, loadApprovals, NO_APPROVALS, needsApproval } from './approval-store.ts';
import { approvablePart, hashContent } from './approved-content.ts';
import { isInTrustedRepository } from './trusted-repositories.ts';

/** The decisions of this machine's user about the content of projects. */
export type Approvals = {
  /** About an entry of scope `project` or `local`; other entries need no approval. */
  ofServer(written: WrittenServer): Choice;
  /** About what a settings file of a project would allow, run or set; deny and ask rules need no approval. */
  ofSettings(source: Pick<SettingsSource, 'scope' | 'path' | 'value'>): Choice;
  /** Whether the user trusts the repository that contains the path as a whole, including later changes. */
  isTrusted(path: string): boolean;
};

/** Reads the approvals; if that fails, nothing is approved and `fault` is the reason. */
export function readApprovals(home: string): { readonly approvals: Approvals; readonly fault?: string } {
  const file = loadApprovals(home);
  return 'fault' in file
    ? { approvals: approvalsOf(NO_APPROVALS), fault: file.fault }
    : { approvals: approvalsOf(file) };
}

/** The approvals in a file. Each path is resolved once. */
export function approvalsOf({ servers, settings, trusted }: ApprovalFile): Approvals {
  const realPathOf = cached(realPath);
  const isCovered = cached((path: string) => isInTrustedRepository(path, trusted));
  const isTrusted = (path: string) => isCovered(realPathOf(path));
  const serverChoices = indexChoices(servers, () => true);
  const settingsChoices = indexChoices(settings, ({ choice }) => choice === 'approved');

  function choiceOf(
    { exact, rejected, known }: ChoiceIndex,
    { scope, path, name }: { readonly scope: string; readonly path?: string; readonly name?: string },
    content: unknown,
  ): Choice {
    const hash = hashContent(content);
    if (path === undefined || hash === undefined) return 'new';
    const place = realPathOf(path);
    const choice = exact.get(keyOf(scope, place, name, hash));
    if (choice !== undefined) return choice;
    // A rejection of this content holds in a trusted repository too, and through a symbolic link.
    if (rejected.has(keyOf(place, name, hash))) return 'rejected';
    if (isTrusted(path)) return 'approved';
    return known.has(keyOf(scope, place, name)) ? 'changed' : 'new';
  }

  return {
    ofServer: (written) =>
      needsApproval(written.scope) ? choiceOf(serverChoices, written, written.raw) : 'approved',
    ofSettings({ scope, path, value }) {
      const part = approvablePart(value);
      if (!needsApproval(scope) || part === undefined) return 'approved';
      return choiceOf(settingsChoices, { scope, ...(path !== undefined && { path }) }, part);
    },
    isTrusted,
  };
}

/** Choices by scope, path, name and content; choices about settings files have no name. */
type ChoiceIndex = {
  readonly exact: ReadonlyMap<string, 'approved' | 'rejected'>;
  readonly rejected: ReadonlySet<string>;
  /** A choice about earlier content, so that new content is reported as changed. */
  readonly known: ReadonlySet<string>;
};

type SavedChoice = ApprovalFile['settings'][number] & { readonly name?: string };

function indexChoices(choices: readonly SavedChoice[], isKnown: (it: SavedChoice) => boolean): ChoiceIndex {
  const refused = choices.filter(({ choice }) => choice === 'rejected');
  return {
    exact: new Map(choices.map((it) => [keyOf(it.scope, it.path, it.name, it.hash), it.choice])),
    rejected: new Set(refused.map(({ path, name, hash }) => keyOf(path, name, hash))),
    known: new Set(choices.filter(isKnown).map(({ scope, path, name }) => keyOf(scope, path, name))),
  };
}

function cached<T>(compute: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    const value = known.has(path) ? (known.get(path) as T) : compute(path);
    known.set(path, value);
    return value;
  };
}

/** A key that is different for different parts, whatever characters they contain. */
function keyOf(...parts: readonly (string | undefined)[]): string {
  return JSON.stringify(parts);
}
