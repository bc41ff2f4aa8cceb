import { constants } from 'node:fs';
import { access, lstat, opendir, realpath } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import {
  type CertainEffect,
  commandEffect,
  type FileEdit,
} from '../../../permissions/commands/command-effect.ts';
import { absolutePath, isInWorkspace, isProtectedPath, type Workspace } from '../../../permissions/path.ts';
import { realPath } from '../files/real-path.ts';

/**
 * The effect of a command that certainly stays in the workspace; undefined for any other command. No path may lead
 * through a symbolic link: rules are compared with the paths as written.
 */
export async function certainEffect(
  command: string,
  workspace: Workspace,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CertainEffect | undefined> {
  const effect = commandEffect(command);
  if (!effect) return undefined;
  const { programs, reads, edits } = effect;
  const checks = [
    ...['.', ...reads].map((path) => isHere(absolutePath(path, workspace), workspace)),
    ...programs.map((name) => isInstalled(name, workspace, env.PATH)),
    ...edits.map((edit) => isSafeEdit(edit, workspace)),
  ];
  const isCertain = (await Promise.all(checks)).every((it) => it);
  if (!isCertain) return undefined;
  return edits.length > 0 ? 'edits' : 'reads';
}

/** Whether the path is in the workspace and leads through no symbolic link; it need not exist. */
async function isHere(path: string, workspace: Workspace): Promise<boolean> {
  return isInWorkspace(path, workspace) && (await realPath(path).catch(() => undefined)) === path;
}

/** Whether the shell finds the program outside of the workspace, whose files the model or other people may have written. */
async function isInstalled(name: string, workspace: Workspace, path = ''): Promise<boolean> {
  for (const directory of path.split(':')) {
    // The shell takes a relative or empty entry from its working directory.
    if (!isAbsolute(directory)) return false;
    const program = join(directory, name);
    try {
      await access(program, constants.X_OK);
    } catch {
      continue;
    }
    return !isInWorkspace(program, workspace) && !isInWorkspace(await realpath(program), workspace);
  }
  return false;
}

async function isSafeEdit({ program, paths }: FileEdit, workspace: Workspace): Promise<boolean> {
  const full = paths.map((path) => absolutePath(path, workspace));
  if (!(await every(full, (path) => isEditable(path, workspace)))) return false;
  if (program === 'rm') return every(full, (path) => isPlainTree(path, [path], workspace));
  if (program !== 'cp' && program !== 'mv') return true;
  const target = full.at(-1) as string;
  const isInside = (await kindOf(target)) === 'directory';
  return every(full.slice(0, -1), async (source) => {
    const to = isInside ? join(target, basename(source)) : target;
    const kind = await kindOf(source);
    if (kind !== 'file' && !(kind === 'directory' && program === 'mv')) return false;
    return (await isEditable(to, workspace)) && isPlainTree(source, [source, to], workspace);
  });
}

/** Whether the path may be written: not protected, and not a working directory itself. */
async function isEditable(path: string, workspace: Workspace): Promise<boolean> {
  const roots = [workspace.cwd, workspace.directory ?? workspace.cwd, ...workspace.directories];
  const holdsRoot = roots.some((root) => `${absolutePath(root, workspace)}/`.startsWith(`${path}/`));
  return !holdsRoot && !isProtectedPath(path, workspace) && (await isHere(path, workspace));
}

/** A larger directory is not searched. */
const MAX_ENTRIES = 1_000;

/** Whether a directory has neither symbolic links nor files that would be protected in any of the places. */
async function isPlainTree(path: string, places: readonly string[], workspace: Workspace): Promise<boolean> {
  if ((await kindOf(path)) !== 'directory') return true;
  let left = MAX_ENTRIES;
  for await (const entry of await opendir(path, { recursive: true })) {
    left -= 1;
    const below = join(entry.parentPath, entry.name).slice(path.length + 1);
    if (left < 0 || entry.isSymbolicLink()) return false;
    if (places.some((place) => isProtectedPath(join(place, below), workspace))) return false;
  }
  return true;
}

async function kindOf(path: string): Promise<'file' | 'directory' | 'other' | 'missing'> {
  try {
    const stats = await lstat(path);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
  } catch {
    return 'missing';
  }
}

async function every<T>(items: readonly T[], check: (item: T) => Promise<boolean>): Promise<boolean> {
  const results = await Promise.all(items.map(check));
  return results.every((it) => it);
}
