import { type Configuration, configurationOf, type Gathered } from '../configuration.ts';
import { SCOPES, type Source } from '../model.ts';
import type { Found, SettingsSource } from '../sources/found.ts';

/** What is configured now, but of the files that are held, as they said before. */
export function keepHeld(
  before: Configuration,
  now: Configuration,
  held: ReadonlySet<string>,
): Configuration {
  if (held.size === 0) return now;
  const { choicesFault, ...rest } = now.gathered;
  const isOfChoices = choicesFault !== undefined && before.gathered.choicesFault === undefined;
  const gathered: Gathered = {
    ...rest,
    found: mixed(before.gathered.found, now.gathered.found, held),
    ...(isOfChoices ? { choices: before.choices } : choicesFault !== undefined && { choicesFault }),
  };
  return configurationOf(gathered);
}

function mixed(before: Found, now: Found, held: ReadonlySet<string>): Found {
  const isHeld = ({ path }: { readonly path?: string }) => path !== undefined && held.has(path);
  const labels = new Set(now.files.filter(isHeld).map(({ label }) => label));
  const past = (source: Source) =>
    before.sources.find((it) => it.path === source.path && it.scope === source.scope) ?? source;
  const scopes = new Set([...before.sources, ...before.settings].filter(isHeld).map(({ scope }) => scope));
  return {
    ...now,
    sources: now.sources.map((it) => (isHeld(it) ? past(it) : it)),
    settings: inOrder(
      [...now.settings.filter((it) => !isHeld(it)), ...before.settings.filter(isHeld)],
      now.files.map(({ path }) => path),
    ),
    files: now.files.map((it) =>
      isHeld(it) ? (before.files.find(({ path }) => path === it.path) ?? it) : it,
    ),
    faults: now.faults.filter(({ label }) => !labels.has(label)),
    unreadPolicies: now.unreadPolicies.filter((label) => !labels.has(label)),
    program: scopes.has('program') ? before.program : now.program,
    connectors: scopes.has('user') || scopes.has('managed') ? before.connectors : now.connectors,
  };
}

/** The lowest first, as they are found: of managed ones the first file is the highest, of others the last. */
function inOrder(settings: readonly SettingsSource[], paths: readonly string[]): SettingsSource[] {
  const placeOf = ({ scope, path }: SettingsSource) => {
    const place = path === undefined ? paths.length : paths.indexOf(path);
    return scope === 'managed' ? -place : place;
  };
  return settings.toSorted(
    (a, b) => SCOPES.indexOf(a.scope) - SCOPES.indexOf(b.scope) || placeOf(a) - placeOf(b),
  );
}
