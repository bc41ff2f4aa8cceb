import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createFile } from '../../base/files/replace-file.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { isWithin, realPath } from '../files/read-text.ts';
import { recordWrite } from '../write/inventory.ts';
import { hashContent } from './approved-content.ts';

/** The file in a repository's git directory that holds its random identity; git neither commits nor pushes it. */
const TOKEN_FILE = 'toolplane-trust';
const MAX_BYTES = 4096;

/** A repository that is trusted as a whole, identified by its token. */
export type TrustedRepository = { readonly path: string; readonly identity: string };

/**
 * Whether a trusted repository contains the path. A repository nested in a trusted one is not trusted: its own
 * `.git` ends the trust, and a pull cannot create one. Another repository at a trusted path is not trusted.
 */
export function isInTrustedRepository(place: string, trusted: readonly TrustedRepository[]): boolean {
  return trusted.some(
    ({ path, identity }) =>
      isWithin(place, path) && !hasRepositoryBelow(path, place) && repositoryIdentity(path) === identity,
  );
}

/** Gives the repository a new identity. An existing token is replaced, because an archive may contain one. */
export function markRepository(home: string, root: string): string {
  const { directory, link } = orRefuse(root, () => gitDirectory(root));
  const path = join(realPath(directory), TOKEN_FILE);
  const token = `${randomBytes(32).toString('hex')}\n`;
  recordWrite(home, path, { isCreated: true, text: hashContent(token) ?? '' });
  orRefuse(root, () => {
    // Removed first, so that a link is not written through.
    rmSync(path, { force: true });
    createFile(path, token, { mode: 0o600 });
  });
  return identityOf(link, token);
}

function hasRepositoryBelow(root: string, place: string): boolean {
  for (let at = place; at !== root; at = dirname(at)) if (existsSync(join(at, '.git'))) return true;
  return false;
}

/**
 * Identifies the repository at a directory: a random token that `markRepository` wrote into its git directory, together
 * with how `.git` leads there. Another repository in the same place has no token or another one, since no clone, archive
 * or pull can bring it along; commits, branches, moves of files and restarts do not change it. Undefined if there is none.
 */
function repositoryIdentity(root: string): string | undefined {
  try {
    const { directory, link } = gitDirectory(root);
    const token = readSmallFile(join(directory, TOKEN_FILE));
    return /^[0-9a-f]{64}\n$/.test(token) ? identityOf(link, token) : undefined;
  } catch {
    return undefined;
  }
}

function orRefuse<T>(root: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const fault = `${root} cannot be trusted as a whole: the token that identifies the repository cannot be written to .git (${messageOf(cause)}); approve its servers by name`;
    throw new HostError('bad-config', '', fault, { cause });
  }
}

type GitDirectory = {
  readonly directory: string;
  /** The content of a `.git` that is a symbolic link or, in work trees and submodules, a file. */
  readonly link: string;
};

function gitDirectory(root: string): GitDirectory {
  const path = join(root, '.git');
  const stats = lstatSync(path);
  if (stats.isDirectory()) return { directory: path, link: '' };
  const link = stats.isSymbolicLink() ? `link: ${readlinkSync(path)}` : readSmallFile(path);
  const [, target] = /^(?:link|gitdir): (.+?)\s*$/.exec(link) ?? [];
  const directory = target === undefined ? undefined : resolve(root, target);
  if (directory !== undefined && statSync(directory).isDirectory()) return { directory, link };
  throw new Error('.git is neither a directory nor a link to one');
}

function identityOf(link: string, token: string): string {
  return createHash('sha256')
    .update(JSON.stringify([link, token]))
    .digest('hex');
}

/** Reads a small regular file; does not follow links or wait for a pipe. */
function readSmallFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_BYTES)
      throw new Error(`${path} is not a regular file of at most ${MAX_BYTES} bytes`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
