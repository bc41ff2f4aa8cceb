import type { Choice, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../source/find-sources.ts';
import { type ChoiceFile, NO_CHOICES } from './choice-file.ts';
import { hashEntry } from './hash-entry.ts';
import { loadChoices } from './load-choices.ts';
import { isWithin, realPlace } from './real-place.ts';
import { approvablePart } from './settings-part.ts';

/** What people on this machine have said about what lies in projects. */
export type Choices = {
  /** Of an entry in scope `project` or `local`; an entry from elsewhere needs no approval. */
  ofServer(written: WrittenServer): Choice;
  /** Of what a settings file in a project would allow, run or set; deny and ask rules need no approval. */
  ofSettings(source: Pick<SettingsSource, 'path' | 'value'>): Choice;
  /** Whether somebody said that everything in the directory counts, now and later. */
  isTrusted(directory: string): boolean;
};

/** Reads them; what cannot be read approves nothing, and is told. */
export async function readChoices(
  home: string,
): Promise<{ readonly choices: Choices; readonly fault?: string }> {
  const file = loadChoices(home);
  return 'fault' in file
    ? { choices: choicesOf(NO_CHOICES), fault: file.fault }
    : { choices: choicesOf(file) };
}

/** What the file says; where things really are is looked up once for each path. */
export function choicesOf({ servers, settings, trusted }: ChoiceFile): Choices {
  const places = new Map<string, string>();
  const placeOf = (path: string): string => {
    const place = places.get(path) ?? realPlace(path);
    places.set(path, place);
    return place;
  };
  const said = new Map(servers.map((it) => [keyOf(it.path, it.name, it.hash), it.choice]));
  const known = new Set(servers.map(({ path, name }) => keyOf(path, name)));
  const approved = new Set(settings.map(({ path, hash }) => keyOf(path, hash)));
  const knownFiles = new Set(settings.map(({ path }) => path));
  const isTrusted = (path: string) => trusted.some((directory) => isWithin(placeOf(path), directory));

  return {
    ofServer({ scope, path, name, raw }) {
      if (scope !== 'project' && scope !== 'local') return 'approved';
      const hash = hashEntry(raw);
      if (path === undefined || hash === undefined) return 'new';
      const place = placeOf(path);
      const choice = said.get(keyOf(place, name, hash));
      // Who said no to this very entry means it, also in a repository they trust.
      if (choice !== undefined) return choice;
      if (isTrusted(path)) return 'approved';
      return known.has(keyOf(place, name)) ? 'changed' : 'new';
    },
    ofSettings({ path, value }) {
      const part = approvablePart(value);
      if (part === undefined) return 'approved';
      const hash = hashEntry(part);
      if (path === undefined || hash === undefined) return 'new';
      const place = placeOf(path);
      if (approved.has(keyOf(place, hash)) || isTrusted(path)) return 'approved';
      return knownFiles.has(place) ? 'changed' : 'new';
    },
    isTrusted,
  };
}

/** No path and no name of a server may look like two parts. */
function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
