import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../base/files/file-lock.ts';
import { isRecord } from '../../base/json-value.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { isWithin, realPath } from '../files/read-text.ts';
import type { WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { approvablePart, hashContent } from './approved-content.ts';
import { markRepository, type TrustedRepository } from './trusted-repositories.ts';

/** How many contents of one entry or file are remembered, so that switching branches does not ask again. */
const MAX_CONTENTS = 20;

/** Saves the user's decision about servers; throws a `HostError` if writing fails. */
export function decideServers(
  home: string,
  servers: readonly Pick<WrittenServer, 'scope' | 'path' | 'name' | 'raw'>[],
  choice: 'approved' | 'rejected',
): void {
  const choices = servers.map(({ scope, path, name, raw }) => {
    const hash = hashContent(raw);
    if (!needsApproval(scope) || path === undefined || hash === undefined)
      throw new HostError('bad-config', name, NOT_IN_A_PROJECT);
    return { scope, path: realPath(path), name, hash, choice };
  });
  const textOf = (it: ServerChoice) => JSON.stringify([it.scope, it.path, it.name, it.hash]);
  const decided = new Set(choices.map(textOf));
  change(home, (file) => ({
    ...file,
    servers: newestOf(
      [...file.servers.filter((it) => !decided.has(textOf(it))), ...choices],
      ({ scope, path, name }) => JSON.stringify([scope, path, name]),
    ),
  }));
}

const NOT_IN_A_PROJECT = 'cannot be approved: the entry is not in a project file, or is nested too deeply';

/** Removes the decisions about entries of the name in the file. */
export function forgetServer(home: string, path: string, name: string): void {
  const place = realPath(path);
  change(home, (file) => ({
    ...file,
    servers: file.servers.filter((it) => it.path !== place || it.name !== name),
  }));
}

/** Activates what the settings file allows, runs or sets, until that content changes. */
export function approveSettings(home: string, source: SettingsContent): void {
  decideSettings(home, source, 'approved');
}

/** Keeps only the restrictions of the settings file active, without asking again, until the rest changes. */
export function rejectSettings(home: string, source: SettingsContent): void {
  decideSettings(home, source, 'rejected');
}

type SettingsContent = Pick<SettingsSource, 'scope' | 'path' | 'value'>;

function decideSettings(
  home: string,
  { scope, path, value }: SettingsContent,
  choice: 'approved' | 'rejected',
): void {
  const part = approvablePart(value);
  if (part === undefined) return;
  const hash = hashContent(part);
  if (!needsApproval(scope) || path === undefined || hash === undefined)
    throw new HostError('bad-config', '', NOT_IN_A_PROJECT);
  const entry = { scope, path: realPath(path), hash, choice };
  const textOf = (it: SettingsChoice) => JSON.stringify([it.scope, it.path, it.hash]);
  change(home, (file) => ({
    ...file,
    settings: newestOf([...file.settings.filter((it) => textOf(it) !== textOf(entry)), entry], (it) =>
      JSON.stringify([it.scope, it.path]),
    ),
  }));
}

/** Approves everything in the repository, including later changes, as long as it is the same repository. */
export function trustDirectory(home: string, directory: string): void {
  const path = realPath(directory);
  const identity = markRepository(home, path);
  change(home, (file) => ({
    ...file,
    trusted: [...file.trusted.filter((it) => it.path !== path), { path, identity }],
  }));
}

/** Removes all decisions about content of the directory; returns their number. */
export function forgetApprovals(home: string, directory: string): number {
  const place = realPath(directory);
  let forgotten = 0;
  change(home, (file) => {
    const kept: ApprovalFile = {
      servers: file.servers.filter(({ path }) => !isWithin(path, place)),
      settings: file.settings.filter(({ path }) => !isWithin(path, place)),
      trusted: file.trusted.filter(({ path }) => !isWithin(path, place)),
    };
    forgotten = countOf(file) - countOf(kept);
    return kept;
  });
  return forgotten;
}

/** Changes the file under a lock; a file that cannot be read is never overwritten. */
function change(home: string, next: (file: ApprovalFile) => ApprovalFile): void {
  const path = approvalsPath(home);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    withFileLock(`${path}.lock`, (replace) => {
      const file = loadApprovals(home);
      if ('fault' in file) throw new HostError('bad-config', '', file.fault);
      const text = formatApprovalFile(next(file));
      if (text !== formatApprovalFile(file)) replace(path, text, { mode: 0o600 });
    });
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    const fault = `${path} cannot be written: ${messageOf(cause)}; check its permissions and the free disk space`;
    throw new HostError('bad-config', '', fault, { cause });
  }
}

/** The newest items of each kind. */
function newestOf<T>(all: readonly T[], kindOf: (item: T) => string): T[] {
  const counts = new Map<string, number>();
  return all.toReversed().filter(isNew).toReversed();

  function isNew(item: T): boolean {
    const count = (counts.get(kindOf(item)) ?? 0) + 1;
    counts.set(kindOf(item), count);
    return count <= MAX_CONTENTS;
  }
}

function countOf({ servers, settings, trusted }: ApprovalFile): number {
  return servers.length + settings.length + trusted.length;
}

/** Maximum size of the file; Toolplane does not write larger ones. */
const MAX_BYTES = 16 * 1024 * 1024;

export function approvalsPath(home: string): string {
  return join(home, 'choices.json');
}

/** Reads the file; `fault` is one sentence with the remedy. */
export function loadApprovals(home: string): ApprovalFile | { readonly fault: string } {
  const path = approvalsPath(home);
  const file = readOwn(path);
  if (file === undefined) return NO_APPROVALS;
  const read = 'fault' in file ? file : parseApprovalFile(file.text);
  if (!('fault' in read)) return read;
  const remedy = 'remedy' in read ? read.remedy : 'fix the file, or remove it and approve the entries again';
  return { fault: `${path} cannot be used, so no project entry is approved: ${read.fault}; ${remedy}` };
}

type Read = { readonly text: string } | { readonly fault: string; readonly remedy?: string };

/** Refuses a file that other users can access: they could approve in this user's name. */
function readOwn(path: string): Read | undefined {
  let file: number | undefined;
  try {
    // Opening a pipe must not block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    const { mode, size } = stats;
    if (!stats.isFile()) return { fault: 'not a regular file' };
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      return { fault: 'other users can read or write the file', remedy: `run chmod 600 ${path}` };
    }
    if (size > MAX_BYTES) return { fault: `larger than ${MAX_BYTES / 2 ** 20} MiB` };
    return { text: readFileSync(file, 'utf8') };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'cannot be read';
    return code === 'ENOENT' ? undefined : { fault: code };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const VERSION = 1;

/** What an entry or file may set depends on its scope, so the scope is part of the approval. */
type ApprovalScope = 'project' | 'local';

type ServerChoice = {
  readonly scope: ApprovalScope;
  readonly path: string;
  readonly name: string;
  readonly hash: string;
  readonly choice: 'approved' | 'rejected';
};

type SettingsChoice = {
  readonly scope: ApprovalScope;
  readonly path: string;
  readonly hash: string;
  readonly choice: 'approved' | 'rejected';
};

/** All decisions of this machine's user; of each kind the newest last. */
export type ApprovalFile = {
  readonly servers: readonly ServerChoice[];
  /** Decisions about the content of settings files. */
  readonly settings: readonly SettingsChoice[];
  readonly trusted: readonly TrustedRepository[];
};

export const NO_APPROVALS: ApprovalFile = { servers: [], settings: [], trusted: [] };

function formatApprovalFile(file: ApprovalFile): string {
  return `${JSON.stringify({ version: VERSION, ...file }, null, 2)}\n`;
}

/** Parses the file. One invalid item makes the file unusable, because it may be a rejection. */
function parseApprovalFile(
  text: string,
): ApprovalFile | { readonly fault: string; readonly remedy?: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'not valid JSON' };
  }
  if (!isRecord(value) || typeof value.version !== 'number') return { fault: 'has no "version"' };
  if (value.version > VERSION) {
    return {
      fault: `has version ${value.version}, but this Toolplane supports only version ${VERSION}`,
      remedy: 'update Toolplane, or remove the file and approve the entries again',
    };
  }
  if (value.version !== VERSION) return { fault: `unknown version ${value.version}` };
  const { servers, settings, trusted } = value;
  if (!isListOf(servers, isServerChoice)) return { fault: '"servers" is not a valid list of decisions' };
  if (!isListOf(settings, isSettingsChoice)) return { fault: '"settings" is not a valid list of decisions' };
  if (!isListOf(trusted, isTrust)) return { fault: '"trusted" is not a valid list of repositories' };
  // Earlier versions stored only a path, which does not identify the repository: the user is asked again.
  return { servers, settings, trusted: trusted.filter((it) => typeof it !== 'string') };
}

function isListOf<T>(value: unknown, isOne: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isOne);
}

function isServerChoice(value: unknown): value is ServerChoice {
  return isRecord(value) && isPlaced(value) && isText(value.name);
}

function isSettingsChoice(value: unknown): value is SettingsChoice {
  return isRecord(value) && isPlaced(value);
}

function isTrust(value: unknown): value is string | TrustedRepository {
  return isText(value) || (isRecord(value) && isText(value.path) && isText(value.identity));
}

function isPlaced({ scope, path, hash, choice }: Readonly<Record<string, unknown>>): boolean {
  if (choice !== 'approved' && choice !== 'rejected') return false;
  return needsApproval(scope) && isText(path) && isText(hash);
}

/** Only content of projects needs approval: it comes from other people. */
export function needsApproval(scope: unknown): scope is ApprovalScope {
  return scope === 'project' || scope === 'local';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
