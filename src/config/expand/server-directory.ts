import { createHash } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Isolation } from '../../mcp/connection/connect-context.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { Configuration } from '../configuration.ts';
import { isWithin, realPath } from '../files/read-text.ts';
import { hasOwnDirectory, type WrittenServer } from '../model.ts';

/** The parts of the configuration that determine working directories. */
type DirectoryContext = Pick<Configuration, 'context' | 'root'>;

/** The directory of a server: its name if that is a valid file name on every system, otherwise with a hash. */
export function serverDirectory(home: string, name: string): string {
  if (/^[a-z0-9_][a-z0-9_-]{0,63}$/.test(name) && !RESERVED.test(name)) return join(home, 'servers', name);
  const legible = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return join(home, 'servers', legible === '' ? hash : `${legible}-${hash}`);
}

/** Device names on Windows. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** The working directory of a server; `entry` has its variables substituted. Nothing is created. */
export function workingDirectory(
  { name, scope, path }: Pick<WrittenServer, 'name' | 'scope' | 'path'>,
  entry: ExternalServerEntry,
  { context }: Pick<DirectoryContext, 'context'>,
): string {
  const { cwd } = entry as { readonly cwd?: string };
  if (!hasOwnDirectory(scope)) return resolve(context.cwd, cwd ?? '.');
  return cwd === undefined ? serverDirectory(context.home, name) : resolve(baseOf(path, context.home), cwd);
}

/** The entry with absolute paths in `cwd` and `tls`, relative to its file if the server has a directory of its own. */
export function resolvePaths(
  written: Pick<WrittenServer, 'name' | 'scope' | 'path'>,
  entry: ExternalServerEntry,
  { context }: Pick<DirectoryContext, 'context'>,
): ExternalServerEntry {
  if (!hasOwnDirectory(written.scope)) return entry;
  const cwd = 'cwd' in entry && entry.cwd !== undefined && workingDirectory(written, entry, { context });
  const tls = 'tls' in entry && entry.tls && absoluteTls(entry.tls, baseOf(written.path, context.home));
  return { ...entry, ...(cwd && { cwd }), ...(tls && { tls }) } as ExternalServerEntry;
}

/** Separates a user, plugin or managed server from the project; its own directory is created. */
export function isolateServer(
  written: Pick<WrittenServer, 'name' | 'scope' | 'path'>,
  given: ExternalServerEntry,
  { context, root = context.cwd }: DirectoryContext,
): { readonly entry: ExternalServerEntry; readonly isolation: Isolation } {
  const entry = resolvePaths(written, given, { context });
  const own = serverDirectory(context.home, written.name);
  const cwd = 'cwd' in entry && entry.cwd ? entry.cwd : createDirectory(written.name, own, { context, root });
  return { entry, isolation: { cwd, project: root } };
}

function baseOf(path: string | undefined, home: string): string {
  if (path === undefined) return home;
  const directory = dirname(path);
  return basename(directory) === '.claude-plugin' ? dirname(directory) : directory;
}

/** Creates the directory; if that fails, uses the user's home, unless it is part of the project. */
function createDirectory(
  name: string,
  directory: string,
  { context, root }: Pick<DirectoryContext, 'context'> & { readonly root: string },
): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  } catch (cause) {
    const { userHome } = context;
    const exists = statSync(userHome, { throwIfNoEntry: false })?.isDirectory() === true;
    if (exists && !isWithin(realPath(userHome), realPath(root))) return userHome;
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    const fault = `cannot create the working directory ${directory} of the server (${code}); set "cwd" in its entry`;
    throw new HostError('bad-config', name, fault, { cause, hasRun: 'no' });
  }
}

function absoluteTls<T extends Readonly<Record<string, string>>>(tls: T, base: string): T {
  const members = Object.entries(tls).map(([member, value]) => {
    const isPath = member !== 'serverName' && !value.includes('-----BEGIN ');
    return [member, isPath ? resolve(base, value) : value];
  });
  return Object.fromEntries(members) as T;
}
