import { existsSync } from 'node:fs';
import { isEqualJson, isRecord } from '../../base/json-value.ts';
import { absolutePath } from '../../permissions/path.ts';
import { applyUpdates, type RuleSet, type RuleStore } from '../../permissions/rule-store.ts';
import type { PermissionUpdate, PermissionUpdateDestination } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { approveSettings, loadApprovals, NO_APPROVALS } from '../approval/approval-store.ts';
import { approvalsOf } from '../approval/approvals.ts';
import { approvablePart } from '../approval/approved-content.ts';
import type { ConfigContext } from '../config-context.ts';
import { editDocument } from '../files/edit-document.ts';
import { findConfigPaths, homeLabel, projectLabel } from '../sources/config-paths.ts';
import { editOptionsFor } from '../write/file-options.ts';
import { forgetWrite, recordWrite, type WrittenValue } from '../write/inventory.ts';
import { ignoreLocalSettings } from '../write/write-servers.ts';
import { permissionEdits } from './permission-edits.ts';

type FileRuleOptions = {
  readonly context: ConfigContext;
  /** The rules at the start, from files and flags. */
  readonly initial: RuleSet;
  /** Called with the file that a change was saved to, or why it was not saved. */
  readonly note?: (text: string) => void;
};

/** A rule store that is updated when settings files change. */
export type FileRuleStore = RuleStore & {
  /** Replaces the rules of settings files and policy; those of the session and of flags stay. */
  readonly renew: (settings: RuleSet) => void;
};

/** Saves rules for the user or the project to their settings files; other rules live as long as the store. */
export function fileRuleStore({ context, initial, note }: FileRuleOptions): FileRuleStore {
  let set = initial;
  return {
    current: () => set,
    keeps: (destination) => isFileDestination(destination) && ruleFiles(context, destination) !== undefined,
    renew: (settings) => {
      set = renewed(set, settings);
    },
    apply: async (updates) => {
      const taken: PermissionUpdate[] = [];
      for (const [destination, own] of byDestination(updates)) {
        const saved = isFileDestination(destination) ? write(destination, own) : { text: undefined };
        if (saved.text !== undefined) note?.(saved.text);
        taken.push(...own.map((it) => ('unwritten' in saved && saved.unwritten(it) ? forSession(it) : it)));
      }
      const applied = applyUpdates(set, taken);
      set = applied.set;
      return applied.diagnostics;
    },
  };

  /** The message for the user, and which of the changes were not saved. */
  function write(
    destination: FileDestination,
    updates: readonly PermissionUpdate[],
  ): { readonly text: string | undefined; unwritten(update: PermissionUpdate): boolean } {
    const files = ruleFiles(context, destination);
    const all = () => true;
    if (!files)
      return {
        text: sessionOnly(
          'the .toolplane directory here contains your user settings, not those of a project; run Toolplane in a project directory to save the rule',
        ),
        unwritten: all,
      };
    const isLasting = (it: PermissionUpdate) => !isBypass(it);
    const lasting = updates.filter(isLasting);
    try {
      const written = [files.target, ...files.others].map((path) =>
        writePermissions(context, files, path, lasting),
      );
      const changed = written.filter(({ outcome }) => outcome === 'written').map(({ path }) => path);
      const pending = written.find(({ outcome }) => outcome === 'pending');
      if (pending) return { text: sessionOnly(waiting(files.label(pending.path))), unwritten: all };
      if (lasting.length < updates.length) return { text: sessionOnly(NO_BYPASS), unwritten: isBypass };
      const text = changed.length > 0 ? `rule saved to ${changed.map(files.label).join(', ')}` : undefined;
      return { text, unwritten: () => false };
    } catch (thrown) {
      return { text: sessionOnly(messageOf(thrown)), unwritten: all };
    }
  }
}

function sessionOnly(why: string): string {
  return `saved for this session only: ${why}`;
}

function waiting(label: string): string {
  return `${label} is not approved, so nothing was written to it: to review and approve it, run "toolplane mcp approve"`;
}

/** In settings, this mode would keep agents from starting that are launched without the flag that allows the mode. */
const NO_BYPASS = 'mode bypassPermissions is not written to settings';

function isBypass(update: PermissionUpdate): boolean {
  return update.type === 'setMode' && update.mode === 'bypassPermissions';
}

/** Additions that were not saved apply to the session; removals still apply to their source. */
function forSession(update: PermissionUpdate): PermissionUpdate {
  const adds = update.type === 'addRules' || update.type === 'addDirectories' || update.type === 'setMode';
  return adds ? { ...update, destination: 'session' } : update;
}

function byDestination(updates: readonly PermissionUpdate[]) {
  return Map.groupBy(updates, ({ destination }) => destination);
}

function renewed(set: RuleSet, settings: RuleSet): RuleSet {
  const isOurs = (source: string) => source === 'session' || source === 'cliArg' || source === 'serverPolicy';
  const { session, cliArg } = set.modes;
  const { blocksOutside } = settings;
  return {
    ...(blocksOutside && { blocksOutside }),
    rules: [
      ...set.rules.filter(({ source }) => isOurs(source)),
      ...settings.rules.filter((it) => !isOurs(it.source)),
    ],
    modes: { ...settings.modes, ...(session && { session }), ...(cliArg && { cliArg }) },
    directories: [
      ...set.directories.filter(({ source }) => isOurs(source)),
      ...settings.directories.filter((it) => !isOurs(it.source)),
    ],
  };
}

/** A destination that is saved to files. */
type FileDestination = Exclude<PermissionUpdateDestination, 'session' | 'cliArg'>;

/** The files of a destination. */
type RuleFiles = {
  /** The file for additions: the nearest existing one, otherwise that of the repository. */
  readonly target: string;
  /** The other existing files. */
  readonly others: readonly string[];
  /** Project files are active only after approval. */
  readonly scope: 'user' | 'project' | 'local';
  label(path: string): string;
};

function isFileDestination(destination: PermissionUpdateDestination): destination is FileDestination {
  return destination !== 'session' && destination !== 'cliArg';
}

/** Undefined in a directory without project files, such as the user's home. */
function ruleFiles(context: ConfigContext, destination: FileDestination): RuleFiles | undefined {
  const places = findConfigPaths(context);
  if (destination === 'userSettings') {
    const label = (path: string) => homeLabel(path, context);
    return { target: places.user, others: [], scope: 'user', label };
  }
  const all = destination === 'localSettings' ? places.local : places.shared;
  const there = all.filter((path) => existsSync(path));
  const target = there.at(-1) ?? all[0];
  if (target === undefined) return undefined;
  return {
    target,
    others: there.slice(0, -1),
    scope: destination === 'localSettings' ? 'local' : 'project',
    label: (path) => projectLabel(path, context),
  };
}

/** `pending`: the file is not approved, and writing to it must not approve it. */
type Written = { readonly path: string; readonly outcome: 'written' | 'unchanged' | 'pending' };

/**
 * Writes changes to one file of a destination. The new content of a project file is approved if the old content was,
 * because the user just made the change. Throws a `HostError` if writing fails; the file is then unchanged.
 */
function writePermissions(
  context: ConfigContext,
  { target, scope }: RuleFiles,
  path: string,
  updates: readonly PermissionUpdate[],
): Written {
  const { cwd, home, userHome } = context;
  const options = editOptionsFor(context, path);
  const isCreated = !existsSync(path);
  const edited = (value: Values) =>
    permissionEdits(value, updates, {
      file: path === target ? 'target' : 'other',
      absolute: (it) => absolutePath(it, { cwd, home: userHome, directories: [] }),
    });
  if (isCreated && edited({}).edits.length === 0) return { path, outcome: 'unchanged' };
  if (isCreated) ignoreLocalSettings(context, path);
  let isPending = false;
  let gone: readonly Listed[] = [];
  const { isChanged } = editDocument(
    path,
    (value) => {
      const { after, edits } = edited(value);
      isPending = scope !== 'user' && !mayChange(home, { scope, path }, value, after);
      if (isPending || edits.length === 0) return [];
      // Recorded first: an unrecorded change would never be uninstalled.
      recordWrite(home, path, { isCreated });
      for (const list of addedItems(value, after)) recordWrite(home, path, { isCreated, list });
      const mode = newMode(value, after);
      if (mode) recordWrite(home, path, { isCreated, value: mode });
      gone = addedItems(after, value);
      return edits;
    },
    options,
  );
  if (isChanged) for (const list of gone) forgetWrite(home, path, list);
  return { path, outcome: isPending ? 'pending' : isChanged ? 'written' : 'unchanged' };
}

type Values = Readonly<Record<string, unknown>>;
type Listed = { readonly key: string; readonly values: readonly string[] };

/**
 * Approves the new content under the lock of the file and before it is written, so that a concurrent writer finds it
 * approved. In a trusted repository nothing needs approval.
 */
function mayChange(
  home: string,
  file: { readonly scope: 'project' | 'local'; readonly path: string },
  before: Values,
  after: Values,
): boolean {
  if (isEqualJson(approvablePart(before), approvablePart(after))) return true;
  const saved = loadApprovals(home);
  const choices = approvalsOf('fault' in saved ? NO_APPROVALS : saved);
  if (choices.isTrusted(file.path)) return true;
  if (choices.ofSettings({ ...file, value: before }) !== 'approved') return false;
  approveSettings(home, { ...file, value: after });
  return true;
}

/** The items of permission lists that only the second value has. */
function addedItems(one: Values, other: Values): Listed[] {
  const before = isRecord(one.permissions) ? one.permissions : {};
  const after = isRecord(other.permissions) ? other.permissions : {};
  return ['allow', 'ask', 'deny', 'additionalDirectories'].flatMap((member) => {
    const known = textsOf(before[member]);
    const values = textsOf(after[member]).filter((it) => !known.includes(it));
    return values.length === 0 ? [] : [{ key: `permissions.${member}`, values }];
  });
}

/** The mode of the second value, if it is different. */
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
