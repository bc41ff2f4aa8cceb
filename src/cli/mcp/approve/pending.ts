import type { Configuration } from '../../../host/config/configuration.ts';
import { faultText } from '../../../host/config/fault-text.ts';
import type { WrittenServer } from '../../../host/config/model.ts';
import type { SettingsSource } from '../../../host/config/source/find-sources.ts';
import { NotUnderstood } from '../../host/not-understood.ts';
import { entriesOf, unknownServer } from '../known-server.ts';
import { whereText } from '../where.ts';

/** Something a project brought along that a person has to decide about. */
export type Pending =
  | { readonly kind: 'server'; readonly written: WrittenServer; readonly choice: 'new' | 'changed' }
  | { readonly kind: 'settings'; readonly source: SettingsSource; readonly choice: 'new' | 'changed' };

/** What a person decided, to be written in one go. */
export type Decisions = {
  readonly approved: readonly WrittenServer[];
  readonly rejected: readonly WrittenServer[];
  readonly settings: readonly SettingsSource[];
  /** A directory in which everything counts from now on. */
  readonly trusted?: string;
};

/** All that waits: servers in the order of the sources, then settings files. A broken entry cannot be approved. */
export function allPending(configuration: Configuration): Pending[] {
  const { sources, settingsSources, settings, choices } = configuration;
  const written = sources.flatMap(({ servers }) => servers).filter(isOfProject);
  const servers = written.flatMap((it) => {
    const choice = it.entry === undefined ? 'approved' : choices.ofServer(it);
    return choice === 'new' || choice === 'changed' ? [{ kind: 'server' as const, written: it, choice }] : [];
  });
  const files = settings.pending.flatMap(({ path, choice }) => {
    const source = settingsSources.find((it) => it.path === path);
    return source ? [{ kind: 'settings' as const, source, choice }] : [];
  });
  return [...servers, ...files];
}

/** The entries of these names that a person can decide about, whatever was decided before. */
export function namedEntries(configuration: Configuration, names: readonly string[]): WrittenServer[] {
  return [...new Set(names)].flatMap((name) => {
    const all = entriesOf(configuration, name);
    const own = all.filter(isOfProject);
    const [broken] = own.filter(({ entry }) => entry === undefined);
    if (all.length === 0) throw unknownServer(configuration, name);
    if (own.length === 0) {
      throw new NotUnderstood(`"${name}" needs no approval: it comes from ${all.map(whereText).join('; ')}`);
    }
    if (broken) {
      const why = broken.fault ? faultText(broken.fault) : whereText(broken);
      throw new NotUnderstood(`"${name}" is broken and cannot be approved: ${why}`);
    }
    return own;
  });
}

function isOfProject({ scope }: WrittenServer): boolean {
  return scope === 'project' || scope === 'local';
}
