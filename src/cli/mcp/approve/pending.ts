import { definitionsToApprove } from '../../../agent/skills/project-definitions.ts';
import { approvablePart } from '../../../config/approval/approved-content.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import type { WrittenServer } from '../../../config/model.ts';
import type { SettingsSource } from '../../../config/sources/source-types.ts';
import { UsageError } from '../../output/failure.ts';
import { entriesOf, unknownServer, whereText } from '../entries.ts';

/** A server or settings file of a project that is pending approval. */
export type Pending =
  | { readonly kind: 'server'; readonly written: WrittenServer; readonly choice: 'new' | 'changed' }
  | { readonly kind: 'settings'; readonly source: SettingsSource; readonly choice: 'new' | 'changed' };

/** Decisions, written together. */
export type Decisions = {
  readonly approved: readonly WrittenServer[];
  readonly rejected: readonly WrittenServer[];
  readonly settings: readonly SettingsSource[];
  readonly rejectedSettings: readonly SettingsSource[];
  /** The root of the repository that is to be trusted as a whole. */
  readonly trusted?: string;
  /** Other entries of approved names, which were not shown. */
  readonly waiting?: readonly WrittenServer[];
};

/** Everything that is pending: servers in the order of the sources, then settings files. Broken entries cannot be approved. */
export function allPending(configuration: Configuration): Pending[] {
  const { sources, settingsSources, settings, approvals: choices } = configuration;
  const written = sources.flatMap(({ servers }) => servers).filter(isOfProject);
  const servers = written.flatMap((it) => {
    const choice = it.entry === undefined ? 'approved' : choices.ofServer(it);
    return choice === 'new' || choice === 'changed' ? [{ kind: 'server' as const, written: it, choice }] : [];
  });
  const files = settings.pending.flatMap(({ path, choice }) => {
    const source = settingsSources.find((it) => it.path === path);
    return source ? [{ kind: 'settings' as const, source, choice }] : [];
  });
  const definitions = definitionsToApprove(configuration).flatMap((source) => {
    const choice = choices.ofSettings(source);
    return choice === 'new' || choice === 'changed' ? [{ kind: 'settings' as const, source, choice }] : [];
  });
  return [...servers, ...files, ...definitions];
}

/**
 * The entries to approve for these names: for each the entry that is shown for it, whatever was decided
 * before. `waiting` are entries of the same names in other files, which were not shown.
 */
export function namedEntries(
  configuration: Configuration,
  names: readonly string[],
): { readonly shown: readonly WrittenServer[]; readonly waiting: readonly WrittenServer[] } {
  const all = [...new Set(names)].map((name) => {
    const own = entriesOfProject(configuration, name);
    const chosen = shownOf(configuration, own);
    if (chosen.entry === undefined) {
      const why = chosen.fault ? formatDiagnostic(chosen.fault) : whereText(chosen);
      throw new UsageError(`"${name}" is broken and cannot be approved: ${why}`);
    }
    return { shown: chosen, waiting: own.filter((it) => it !== chosen && isUndecided(configuration, it)) };
  });
  return { shown: all.map(({ shown: chosen }) => chosen), waiting: all.flatMap(({ waiting }) => waiting) };
}

/** Every entry of these names: rejecting a name rejects all its entries. */
export function rejectedEntries(configuration: Configuration, names: readonly string[]): WrittenServer[] {
  return [...new Set(names)].flatMap((name) => entriesOfProject(configuration, name));
}

/** The settings files, and files of skills and agents, whose state the choice changes. */
export function otherSettings(
  configuration: Configuration,
  choice: 'approved' | 'rejected',
): SettingsSource[] {
  const { settingsSources, approvals: choices } = configuration;
  return [...settingsSources, ...definitionsToApprove(configuration)].filter(
    (it) => isOfProject(it) && approvablePart(it.value) !== undefined && choices.ofSettings(it) !== choice,
  );
}

type OneOrMore<T> = readonly [T, ...T[]];

/** Highest precedence first. */
function entriesOfProject(configuration: Configuration, name: string): OneOrMore<WrittenServer> {
  const all = entriesOf(configuration, name);
  const [first, ...more] = all.filter(isOfProject);
  if (all.length === 0) throw unknownServer(configuration, name);
  if (first) return [first, ...more];
  throw new UsageError(`"${name}" needs no approval: it is defined in ${all.map(whereText).join('; ')}`);
}

/** The pending entry of highest precedence, else the rejected one. */
function shownOf(configuration: Configuration, own: OneOrMore<WrittenServer>): WrittenServer {
  const isRejected = (it: WrittenServer) => configuration.approvals.ofServer(it) === 'rejected';
  return own.find((it) => isUndecided(configuration, it)) ?? own.find(isRejected) ?? own[0];
}

function isUndecided({ approvals: choices }: Configuration, written: WrittenServer): boolean {
  const choice = choices.ofServer(written);
  return choice === 'new' || choice === 'changed';
}

function isOfProject({ scope }: Pick<WrittenServer, 'scope'>): boolean {
  return scope === 'project' || scope === 'local';
}
