import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../base/is-record.ts';
import { absolutePath } from '../../permissions/path.ts';
import type { PermissionUpdate } from '../../protocol/permission.ts';
import { NO_CHOICES } from '../approval/choice-file.ts';
import { approveSettings } from '../approval/choice-store.ts';
import { choicesOf } from '../approval/choices.ts';
import { loadChoices } from '../approval/load-choices.ts';
import { approvablePart } from '../approval/settings-part.ts';
import { editDocument } from '../files/edit-document.ts';
import type { ConfigWorld } from '../world.ts';
import { fileOptions } from '../write/file-options.ts';
import { forgetWritten, noteWritten, type WrittenValue } from '../write/inventory.ts';
import { keepLocal } from '../write/keep-local.ts';
import { permissionEdits } from './permission-edits.ts';
import type { RuleFiles } from './rule-files.ts';

/** `pending`: it waits for somebody to approve what stands in it, which our writing must not do for them. */
export type Written = { readonly path: string; readonly outcome: 'written' | 'unchanged' | 'pending' };

/**
 * Writes changes to one file of a destination. What comes of it in a project is approved with it, if what was there
 * before was: a person has just said so. Throws a `HostError` if it cannot be written; then nothing was changed.
 */
export function writePermissions(
  world: ConfigWorld,
  { target, scope }: RuleFiles,
  path: string,
  updates: readonly PermissionUpdate[],
): Written {
  const { cwd, home, userHome } = world;
  const options = fileOptions(world, path);
  const isCreated = !existsSync(path);
  const edited = (value: Values) =>
    permissionEdits(value, updates, {
      file: path === target ? 'target' : 'other',
      absolute: (it) => absolutePath(it, { cwd, home: userHome, directories: [] }),
    });
  if (isCreated && edited({}).edits.length === 0) return { path, outcome: 'unchanged' };
  if (isCreated) keepLocal(world, path);
  let isPending = false;
  let gone: readonly Listed[] = [];
  const { isChanged } = editDocument(
    path,
    (value) => {
      const { after, edits } = edited(value);
      isPending = scope !== 'user' && !mayChange(home, { scope, path }, value, after);
      if (isPending || edits.length === 0) return [];
      // Before it is there: what is written and not noted nobody would ever remove.
      noteWritten(home, path, { isCreated });
      for (const list of more(value, after)) noteWritten(home, path, { isCreated, list });
      const mode = newMode(value, after);
      if (mode) noteWritten(home, path, { isCreated, value: mode });
      gone = more(after, value);
      return edits;
    },
    options,
  );
  if (isChanged) for (const list of gone) forgetWritten(home, path, list);
  return { path, outcome: isPending ? 'pending' : isChanged ? 'written' : 'unchanged' };
}

type Values = Readonly<Record<string, unknown>>;
type Listed = { readonly key: string; readonly values: readonly string[] };

/**
 * Approves what comes under the lock of the file and before it is there, so that whoever writes next finds it approved.
 * In a repository that is trusted nothing has to be.
 */
function mayChange(
  home: string,
  file: { readonly scope: 'project' | 'local'; readonly path: string },
  before: Values,
  after: Values,
): boolean {
  if (isDeepStrictEqual(approvablePart(before), approvablePart(after))) return true;
  const said = loadChoices(home);
  const choices = choicesOf('fault' in said ? NO_CHOICES : said);
  if (choices.isTrusted(file.path)) return true;
  if (choices.ofSettings({ ...file, value: before }) !== 'approved') return false;
  approveSettings(home, { ...file, value: after });
  return true;
}

/** What the lists of permissions hold more in the second. */
function more(one: Values, other: Values): Listed[] {
  const before = isRecord(one.permissions) ? one.permissions : {};
  const after = isRecord(other.permissions) ? other.permissions : {};
  return ['allow', 'ask', 'deny', 'additionalDirectories'].flatMap((member) => {
    const known = textsOf(before[member]);
    const values = textsOf(after[member]).filter((it) => !known.includes(it));
    return values.length === 0 ? [] : [{ key: `permissions.${member}`, values }];
  });
}

/** A mode that is another in the second. */
function newMode(one: Values, other: Values): ({ readonly key: string } & WrittenValue) | undefined {
  const [was, is] = [one, other].map(({ permissions }) => {
    const mode = isRecord(permissions) ? permissions.defaultMode : undefined;
    return typeof mode === 'string' ? mode : undefined;
  });
  if (is === undefined || is === was) return undefined;
  return { key: 'permissions.defaultMode', is, ...(was !== undefined && { was }) };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((it) => typeof it === 'string') : [];
}
