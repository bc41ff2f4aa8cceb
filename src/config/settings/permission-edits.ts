import { isRecord } from '../../base/json-value.ts';
import { parseRule, ruleOf, ruleText } from '../../permissions/rule.ts';
import type { PermissionUpdate } from '../../protocol/permission.ts';
import type { Edit } from '../files/edit-text.ts';

type Values = Readonly<Record<string, unknown>>;

/** Settings after the changes, and the edits of the file. */
export type PermissionEdits = { readonly after: Values; readonly edits: readonly Edit[] };

/** Which file is edited, and how directories in it are resolved. */
export type EditedFile = { readonly file: 'target' | 'other'; absolute(directory: string): string };

/**
 * Applies permission updates to a settings file. Additions go only to the `target` of a destination; removals apply to
 * its other files too. Invalid rules are left out, as in `applyUpdates`.
 */
export function permissionEdits(
  value: Values,
  updates: readonly PermissionUpdate[],
  { file, absolute }: EditedFile,
): PermissionEdits {
  let after = value;
  const edits: Edit[] = [];
  for (const update of updates) {
    const found = editsOf(isRecord(after.permissions) ? after.permissions : {}, update, {
      file,
      absolute,
    });
    if (!found) continue;
    edits.push(...found.edits);
    after = { ...after, permissions: found.after };
  }
  return { after, edits };
}

function editsOf(
  permissions: Values,
  update: PermissionUpdate,
  { file, absolute }: EditedFile,
): PermissionEdits | undefined {
  switch (update.type) {
    case 'setMode':
      if (file === 'other') return undefined;
      return {
        after: { ...permissions, defaultMode: update.mode },
        edits: [{ path: ['permissions', 'defaultMode'], value: update.mode }],
      };
    case 'addDirectories':
    case 'removeDirectories': {
      const isSame = (item: unknown, given: string) =>
        typeof item === 'string' && absolute(item) === absolute(given);
      return listEdits(permissions, 'additionalDirectories', {
        removes: (item) =>
          update.type === 'removeDirectories' && update.directories.some((it) => isSame(item, it)),
        adds: update.type === 'addDirectories' && file === 'target' ? update.directories : [],
        isSame,
      });
    }
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      return ruleEdits(permissions, update, file);
  }
}

function ruleEdits(
  permissions: Values,
  { type, rules, behavior }: Extract<PermissionUpdate, { behavior: unknown }>,
  file: 'target' | 'other',
): PermissionEdits | undefined {
  const parsed = rules.map((rule) => ruleOf(rule, behavior, 'session'));
  if (type === 'replaceRules' && parsed.some(({ ok }) => !ok)) return undefined;
  const texts = parsed.flatMap((it) => (it.ok ? [ruleText(it.rule)] : []));
  /** Compares rules in their normalized form. */
  const isSame = (item: unknown, text: string) => {
    const found = typeof item === 'string' ? parseRule(item, behavior, 'session') : undefined;
    return found?.ok === true && ruleText(found.rule) === text;
  };
  const isGiven = (item: unknown) => texts.some((text) => isSame(item, text));
  const stays = file === 'target' ? isGiven : () => false;
  return listEdits(permissions, behavior, {
    removes: (item) => (type === 'removeRules' ? isGiven(item) : type === 'replaceRules' && !stays(item)),
    adds: type === 'removeRules' || file === 'other' ? [] : texts,
    isSame,
  });
}

/** Edits single items of a list, so that comments next to other items stay. */
function listEdits(
  permissions: Values,
  member: string,
  change: {
    removes(item: unknown): boolean;
    readonly adds: readonly string[];
    isSame(item: unknown, added: string): boolean;
  },
): PermissionEdits {
  const path = ['permissions', member];
  const given = permissions[member];
  const before: readonly unknown[] = Array.isArray(given) ? given : [];
  const gone = before.flatMap((item, at) => (change.removes(item) ? [at] : []));
  const kept = before.filter((_, at) => !gone.includes(at));
  const added: string[] = [];
  for (const it of change.adds) {
    if (![...kept, ...added].some((item) => change.isSame(item, it))) added.push(it);
  }
  if (gone.length === 0 && added.length === 0) return { after: permissions, edits: [] };
  const edits = Array.isArray(given)
    ? [
        ...gone.toReversed().map((at) => ({ path: [...path, at], value: undefined })),
        ...added.map((value, at) => ({ path: [...path, kept.length + at], value })),
      ]
    : [{ path, value: added }];
  return { after: { ...permissions, [member]: [...kept, ...added] }, edits };
}
