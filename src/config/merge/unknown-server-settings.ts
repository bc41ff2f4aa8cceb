import { nearest } from '../../base/text/nearest.ts';
import { formatKeyPath } from '../files/diagnostics.ts';
import type { ConfigDiagnostic, Position, Scope, ServerOverride, Source } from '../model.ts';

type SettingsInput = {
  readonly sources: readonly Source[];
  readonly overrides: readonly ServerOverride[];
  readonly programNames?: readonly string[];
  readonly placeOf?: (override: ServerOverride) => Position | undefined;
};

/** Warns about settings for unknown servers, which are probably misspelled, unless some names are not known. */
export function unknownServerSettings({
  sources,
  overrides,
  programNames = [],
  placeOf,
}: SettingsInput): readonly ConfigDiagnostic[] {
  if (overrides.length === 0 || sources.some(isUnknown)) return [];
  const known = new Set([
    ...programNames,
    ...sources.flatMap(({ servers }) => servers.map(({ name }) => name)),
  ]);
  const names = [...known];
  let looked = 0;
  const faults = new Map<string, ConfigDiagnostic>();
  for (const override of overrides) {
    const { name, scope, label, path, isForProject } = override;
    if (isForProject) continue;
    // The same settings may occur twice: once for what they add.
    const id = JSON.stringify([scope, path ?? label, name]);
    if (known.has(name) || faults.has(id)) continue;
    // Each suggestion compares the name with all others, so their number is limited.
    if (++looked > MAX_GUESSES) break;
    const suggestion = nearest(name, names);
    if (suggestion === undefined && EVERYWHERE.has(scope)) continue;
    const guess = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
    const position = placeOf?.(override);
    faults.set(id, {
      level: 'warning',
      scope,
      label,
      key: formatKeyPath(['serverSettings', name]),
      ...(position && { position }),
      message: `no server has this name${guess}`,
    });
  }
  return [...faults.values()];
}

/** Maximum number of unknown names that are reported. */
const MAX_GUESSES = 50;

/** These apply to all projects and may be about a server of another project. */
const EVERYWHERE: ReadonlySet<Scope> = new Set(['user', 'managed']);

/** Whether the servers of a source are not known; a catalogue may not be fetched yet. */
function isUnknown({ state, leftOut, scope }: Source): boolean {
  return state === 'unusable' || leftOut === true || (state === 'absent' && scope === 'connector');
}
