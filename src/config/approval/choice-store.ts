import { mkdirSync } from 'node:fs';
import { underLock } from '../../base/file-lock.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/found.ts';
import {
  type ChoiceFile,
  choiceText,
  isChosenScope,
  type ServerChoice,
  type SettingsChoice,
} from './choice-file.ts';
import { hashEntry } from './hash-entry.ts';
import { choicesPath, loadChoices } from './load-choices.ts';
import { isWithin, realPlace } from './real-place.ts';
import { markRepository } from './repository-identity.ts';
import { approvablePart } from './settings-part.ts';

/** Branches of a repository differ, and going back to one asks nobody again; but what is long gone is forgotten. */
const MOST_CONTENTS = 20;

/** Remembers what a person said, under a lock; throws a `HostError` if it cannot be written. */
export function decideServers(
  home: string,
  servers: readonly Pick<WrittenServer, 'scope' | 'path' | 'name' | 'raw'>[],
  choice: 'approved' | 'rejected',
): void {
  const said = servers.map(({ scope, path, name, raw }) => {
    const hash = hashEntry(raw);
    if (!isChosenScope(scope) || path === undefined || hash === undefined)
      throw new HostError('bad-config', name, NOT_IN_A_PROJECT);
    return { scope, path: realPlace(path), name, hash, choice };
  });
  const textOf = (it: ServerChoice) => JSON.stringify([it.scope, it.path, it.name, it.hash]);
  const isSaid = new Set(said.map(textOf));
  change(home, (file) => ({
    ...file,
    servers: newestOf(
      [...file.servers.filter((it) => !isSaid.has(textOf(it))), ...said],
      ({ scope, path, name }) => JSON.stringify([scope, path, name]),
    ),
  }));
}

const NOT_IN_A_PROJECT = 'it cannot be approved: it stands in no file of a project, or is nested too deeply';

/** Forgets what was said about entries of the name in the file. */
export function forgetServer(home: string, path: string, name: string): void {
  const place = realPlace(path);
  change(home, (file) => ({
    ...file,
    servers: file.servers.filter((it) => it.path !== place || it.name !== name),
  }));
}

/** What the file would allow, run or set counts as long as it is the same. */
export function approveSettings(home: string, source: Chosen): void {
  decideSettings(home, source, 'approved');
}

/** Of the file only what forbids counts as long as the rest is the same, and nobody is asked about it. */
export function rejectSettings(home: string, source: Chosen): void {
  decideSettings(home, source, 'rejected');
}

type Chosen = Pick<SettingsSource, 'scope' | 'path' | 'value'>;

function decideSettings(home: string, { scope, path, value }: Chosen, choice: 'approved' | 'rejected'): void {
  const part = approvablePart(value);
  if (part === undefined) return;
  const hash = hashEntry(part);
  if (!isChosenScope(scope) || path === undefined || hash === undefined)
    throw new HostError('bad-config', '', NOT_IN_A_PROJECT);
  const said = { scope, path: realPlace(path), hash, choice };
  const textOf = (it: SettingsChoice) => JSON.stringify([it.scope, it.path, it.hash]);
  change(home, (file) => ({
    ...file,
    settings: newestOf([...file.settings.filter((it) => textOf(it) !== textOf(said)), said], (it) =>
      JSON.stringify([it.scope, it.path]),
    ),
  }));
}

/** Everything in the repository counts from now on, also what comes later, as long as it is this repository. */
export function trustDirectory(home: string, directory: string): void {
  const path = realPlace(directory);
  const identity = markRepository(home, path);
  change(home, (file) => ({
    ...file,
    trusted: [...file.trusted.filter((it) => it.path !== path), { path, identity }],
  }));
}

/** Forgets all choices about what lies in the directory or below; gives how many there were. */
export function forgetChoices(home: string, directory: string): number {
  const place = realPlace(directory);
  let forgotten = 0;
  change(home, (file) => {
    const kept: ChoiceFile = {
      servers: file.servers.filter(({ path }) => !isWithin(path, place)),
      settings: file.settings.filter(({ path }) => !isWithin(path, place)),
      trusted: file.trusted.filter(({ path }) => !isWithin(path, place)),
    };
    forgotten = countOf(file) - countOf(kept);
    return kept;
  });
  return forgotten;
}

/** Of two processes each keeps what the other wrote; a file that cannot be read is never written over. */
function change(home: string, next: (file: ChoiceFile) => ChoiceFile): void {
  const path = choicesPath(home);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    underLock(`${path}.lock`, () => {
      const file = loadChoices(home);
      if ('fault' in file) throw new HostError('bad-config', '', file.fault);
      const text = choiceText(next(file));
      if (text !== choiceText(file)) replaceFile(path, text, { mode: 0o600 });
    });
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    throw new HostError('bad-config', '', `${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

/** The last of each kind. */
function newestOf<T>(all: readonly T[], kindOf: (item: T) => string): T[] {
  const counts = new Map<string, number>();
  return all.toReversed().filter(isNew).toReversed();

  function isNew(item: T): boolean {
    const count = (counts.get(kindOf(item)) ?? 0) + 1;
    counts.set(kindOf(item), count);
    return count <= MOST_CONTENTS;
  }
}

function countOf({ servers, settings, trusted }: ChoiceFile): number {
  return servers.length + settings.length + trusted.length;
}
