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

/** Where a person may put a server. */
export type WritableScope = 'local' | 'project' | 'user';

type ServerWritten = {
  /** The file that was changed. */
  readonly path: string;
  /** Whether it had an entry of the name before. */
  readonly hadOne: boolean;
  /** Whether there was no such file. */
  readonly isNew: boolean;
};

/** Where a scope is written to: the nearest file there is, else that of the repository, else that of the directory. */
export function pathOfScope(context: ConfigContext, scope: WritableScope): string {
  const places = findConfigPaths(context);
  if (scope === 'user') return places.user;
  const path = places[scope].findLast((it) => existsSync(it)) ?? places[scope][0];
  if (path !== undefined) return path;
  const fault = `${context.cwd} is no project: its .toolplane is your own; use --scope user, or another directory`;
  throw new HostError('bad-config', '', fault);
}

/** Writes an entry; one in the project is approved by that, since a person of this machine wrote it. */
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
      // Only of what can be written, and before it is: what is there and not noted nobody would ever remove.
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

/** Takes the entry out of the file at `path`, with what was decided about it; false if there was none. */
export function removeServer(context: ConfigContext, path: string, name: string): boolean {
  const edits = () => [{ path: ['mcpServers', name], value: undefined }];
  const { isChanged } = editDocument(path, edits, editOptionsFor(context, path));
  if (!isChanged) return false;
  forgetServer(context.home, path, name);
  forgetWrite(context.home, path, { server: name });
  return true;
}

/** The value that will be read again. */
function asWritten(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(entry)) as Readonly<Record<string, unknown>>;
}

const LOCAL = 'settings.local.json';
const TEXT = `${LOCAL}\n`;

/**
 * Before the first file is made in `.toolplane` of a project: what is the person's own there is kept out of the
 * repository, so that nobody commits it unawares. Where somebody sees to that already, nothing is done.
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
    // Whoever writes the file itself is told what is wrong with the directory.
  }
}
