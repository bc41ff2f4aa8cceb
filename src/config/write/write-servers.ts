import { existsSync } from 'node:fs';
import { isRecord } from '../../base/is-record.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { decideServers, forgetServer } from '../approval/choice-store.ts';
import { hashEntry } from '../approval/hash-entry.ts';
import { editDocument } from '../files/edit-document.ts';
import { findPlaces } from '../sources/places.ts';
import type { ConfigWorld } from '../world.ts';
import { fileOptions } from './file-options.ts';
import { forgetWritten, noteWritten } from './inventory.ts';
import { keepLocal } from './keep-local.ts';

/** Where a person may put a server. */
export type WritableScope = 'local' | 'project' | 'user';

export type ServerWritten = {
  /** The file that was changed. */
  readonly path: string;
  /** Whether it had an entry of the name before. */
  readonly hadOne: boolean;
  /** Whether there was no such file. */
  readonly isNew: boolean;
};

/** Where a scope is written to: the nearest file there is, else that of the repository, else that of the directory. */
export function pathOfScope(world: ConfigWorld, scope: WritableScope): string {
  const places = findPlaces(world);
  if (scope === 'user') return places.user;
  const path = places[scope].findLast((it) => existsSync(it)) ?? places[scope][0];
  if (path !== undefined) return path;
  const fault = `${world.cwd} is no project: its .toolplane is your own; use --scope user, or another directory`;
  throw new HostError('bad-config', '', fault);
}

/** Writes an entry; one in the project is approved by that, since a person of this machine wrote it. */
export function writeServer(
  world: ConfigWorld,
  scope: WritableScope,
  name: string,
  entry: Readonly<Record<string, unknown>>,
): ServerWritten {
  const path = pathOfScope(world, scope);
  const options = fileOptions(world, path);
  const raw = asWritten(entry);
  keepLocal(world, path);
  let hadOne = false;
  const { isNew } = editDocument(
    path,
    (value) => {
      hadOne = isRecord(value.mcpServers) && Object.hasOwn(value.mcpServers, name);
      // Only of what can be written, and before it is: what is there and not noted nobody would ever remove.
      if (scope !== 'user') {
        decideServers(world.home, [{ scope, path, name, raw }], 'approved');
        const hash = hashEntry(raw) ?? '';
        noteWritten(world.home, path, { isCreated: !existsSync(path), server: { name, hash } });
      }
      return [{ path: ['mcpServers', name], value: raw }];
    },
    options,
  );
  return { path, hadOne, isNew };
}

/** Takes the entry out of the file at `path`, with what was decided about it; false if there was none. */
export function removeServer(world: ConfigWorld, path: string, name: string): boolean {
  const edits = () => [{ path: ['mcpServers', name], value: undefined }];
  const { isChanged } = editDocument(path, edits, fileOptions(world, path));
  if (!isChanged) return false;
  forgetServer(world.home, path, name);
  forgetWritten(world.home, path, { server: name });
  return true;
}

/** The value that will be read again. */
function asWritten(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(entry)) as Readonly<Record<string, unknown>>;
}
