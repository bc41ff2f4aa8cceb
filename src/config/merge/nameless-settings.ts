import { nearest } from '../../base/nearest.ts';
import type { ConfigFault, Position, Scope, ServerOverride, Source } from '../model.ts';
import { keyText } from '../sources/key-text.ts';

type Input = {
  readonly sources: readonly Source[];
  readonly overrides: readonly ServerOverride[];
  readonly programNames?: readonly string[];
  readonly placeOf?: (override: ServerOverride) => Position | undefined;
};

/**
 * What settings say of servers that nobody wrote: most likely the name is mistyped, and what they set would do nothing
 * without a word. Where not all names are known, nothing is said.
 */
export function namelessSettings({
  sources,
  overrides,
  programNames = [],
  placeOf,
}: Input): readonly ConfigFault[] {
  if (overrides.length === 0 || sources.some(isUnknown)) return [];
  const known = new Set([
    ...programNames,
    ...sources.flatMap(({ servers }) => servers.map(({ name }) => name)),
  ]);
  const names = [...known];
  let looked = 0;
  const faults = new Map<string, ConfigFault>();
  for (const override of overrides) {
    const { name, scope, label, path } = override;
    // The same settings may speak twice of it, once of what they add.
    const id = JSON.stringify([scope, path ?? label, name]);
    if (known.has(name) || faults.has(id)) continue;
    // To guess takes time, and whoever errs so often needs no guesses.
    if (++looked > MOST) break;
    const meant = nearest(name, names);
    if (meant === undefined && EVERYWHERE.has(scope)) continue;
    const guess = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
    const position = placeOf?.(override);
    faults.set(id, {
      level: 'warning',
      scope,
      label,
      key: keyText(['serverSettings', name]),
      ...(position && { position }),
      message: `no server is called so${guess}`,
    });
  }
  return [...faults.values()];
}

/** How many names are looked at. */
const MOST = 50;

/** These hold for all projects, and may speak of a server that only another one has. */
const EVERYWHERE: ReadonlySet<Scope> = new Set(['user', 'managed']);

/** A catalogue that nobody has asked yet is not there either. */
function isUnknown({ state, leftOut, scope }: Source): boolean {
  return state === 'unusable' || leftOut === true || (state === 'absent' && scope === 'connector');
}
