import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { decideServers, forgetServer } from '../approval/approval-store.ts';
import { hashContent } from '../approval/approved-content.ts';
import type { ConfigContext } from '../config-context.ts';
import { editDocument } from '../files/edit-document.ts';
import { readText } from '../files/read-text.ts';
import { findConfigPaths } from '../sources/config-paths.ts';
import { editOptionsFor, isUserFile } from './file-options.ts';
import { forgetWrite, recordWrite } from './inventory.ts';

/** The scopes that servers can be written to. */
export type WritableScope = 'local' | 'project' | 'user';

type ServerWritten = {
  /** The file that was changed. */
  readonly path: string;
  /** Whether the file had an entry of the name before. */
  readonly hadOne: boolean;
  /** Whether the file was created. */
  readonly isNew: boolean;
};

/** The file that a scope is written to: the nearest existing one, otherwise that of the repository or working directory. */
export function pathOfScope(context: ConfigContext, scope: WritableScope): string {
  const places = findConfigPaths(context);
  if (scope === 'user') return places.user;
  const path = places[scope].findLast((it) => existsSync(it)) ?? places[scope][0];
  if (path !== undefined) return path;
  const fault = `${context.cwd} cannot be used as a project: its .toolplane directory contains your user settings; use --scope user, or another directory`;
  throw new HostError('bad-config', '', fault);
}

/** Writes an entry; a project entry is approved by that, because this machine's user wrote it. */
export function writeServer(
  context: ConfigContext,
  scope: WritableScope,
  name: string,
  entry: Readonly<Record<string, unknown>>,
): ServerWritten {
  const path = pathOfScope(context, scope);
  const options = editOptionsFor(context, path);
  const raw = asWritten(entry);
  ignoreLocalSettings(context, path);
  let hadOne = false;
  const { isNew } = editDocument(
    path,
    (value) => {
      hadOne = isRecord(value.mcpServers) && Object.hasOwn(value.mcpServers, name);
      // Here the file is known to be writable. Recorded first: an unrecorded entry would never be uninstalled.
      if (scope !== 'user') {
        decideServers(context.home, [{ scope, path, name, raw }], 'approved');
        const hash = hashContent(raw) ?? '';
        recordWrite(context.home, path, { isCreated: !existsSync(path), server: { name, hash } });
      }
      return [{ path: ['mcpServers', name], value: raw }];
    },
    options,
  );
  return { path, hadOne, isNew };
}

/** Removes the entry from the file at `path`, and its approval; false if there was none. */
export function removeServer(context: ConfigContext, path: string, name: string): boolean {
  const edits = () => [{ path: ['mcpServers', name], value: undefined }];
  const { isChanged } = editDocument(path, edits, editOptionsFor(context, path));
  if (!isChanged) return false;
  forgetServer(context.home, path, name);
  forgetWrite(context.home, path, { server: name });
  return true;
}

/** The value as it will be read back. */
function asWritten(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(entry)) as Readonly<Record<string, unknown>>;
}

const LOCAL = 'settings.local.json';
const TEXT = `${LOCAL}\n`;

/**
 * Adds a `.gitignore` for `settings.local.json` before the first file is created in `.toolplane` of a project, so that the
 * user's own settings are not committed by mistake. An existing `.gitignore` is left alone.
 */
export function ignoreLocalSettings(context: ConfigContext, path: string): void {
  const { home } = context;
  const folder = dirname(path);
  if (basename(folder) !== '.toolplane' || isUserFile(home, path)) return;
  if (existsSync(folder) && (basename(path) !== LOCAL || existsSync(path))) return;
  const ignore = join(folder, '.gitignore');
  if (readText(ignore, editOptionsFor(context, ignore)).state !== 'absent') return;
  recordWrite(home, ignore, { isCreated: true, text: hashContent(TEXT) ?? '' });
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    createFile(ignore, TEXT, { mode: 0o644 });
  } catch {
    // Writing the settings file itself reports the problem of the directory.
  }
}
