import type { RuleDiagnostic } from '../../permissions/rule.ts';
import { applyUpdate, type RuleSet, type RuleStore } from '../../permissions/rule-store.ts';
import type { PermissionUpdate } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConfigWorld } from '../world.ts';
import { type FileDestination, isFileDestination, ruleFiles } from './rule-files.ts';
import { writePermissions } from './write-permissions.ts';

export type FileRuleOptions = {
  readonly world: ConfigWorld;
  /** What is in force at the start, of files and flags alike. */
  readonly initial: RuleSet;
  /** Hears which file a change was noted in, and what could not be noted. */
  readonly note?: (text: string) => void;
};

/** A store that is told when files say something else. */
export type FileRuleStore = RuleStore & {
  /** What settings files and policy say now; what was said for this session or by flags stays. */
  readonly renew: (settings: RuleSet) => void;
};

/** What is for the person or the project goes to their settings files, the rest is kept as long as the object. */
export function fileRuleStore({ world, initial, note }: FileRuleOptions): FileRuleStore {
  let set = initial;
  const take = (updates: readonly PermissionUpdate[]): RuleDiagnostic[] =>
    updates.flatMap((update) => {
      const applied = applyUpdate(set, update);
      set = applied.set;
      return applied.diagnostics;
    });
  return {
    current: () => set,
    keeps: (destination) => isFileDestination(destination) && ruleFiles(world, destination) !== undefined,
    renew: (settings) => {
      set = renewed(set, settings);
    },
    apply: async (updates) => {
      const taken: PermissionUpdate[] = [];
      for (const [destination, own] of byDestination(updates)) {
        const said = isFileDestination(destination) ? write(destination, own) : { text: undefined };
        if (said.text !== undefined) note?.(said.text);
        taken.push(...own.map((it) => ('unwritten' in said && said.unwritten(it) ? forSession(it) : it)));
      }
      return take(taken);
    },
  };

  /** What to tell, and which of the changes are in no file. */
  function write(
    destination: FileDestination,
    updates: readonly PermissionUpdate[],
  ): { readonly text: string | undefined; unwritten(update: PermissionUpdate): boolean } {
    const files = ruleFiles(world, destination);
    const all = () => true;
    if (!files) return { text: sessionOnly('there is no project here'), unwritten: all };
    const isLasting = (it: PermissionUpdate) => !isBypass(it);
    const lasting = updates.filter(isLasting);
    try {
      const written = [files.target, ...files.others].map((path) =>
        writePermissions(world, files, path, lasting),
      );
      const changed = written.filter(({ outcome }) => outcome === 'written').map(({ path }) => path);
      const pending = written.find(({ outcome }) => outcome === 'pending');
      if (pending) return { text: sessionOnly(waiting(files.label(pending.path))), unwritten: all };
      if (lasting.length < updates.length) return { text: sessionOnly(NO_BYPASS), unwritten: isBypass };
      const text = changed.length > 0 ? `noted in ${changed.map(files.label).join(', ')}` : undefined;
      return { text, unwritten: () => false };
    } catch (thrown) {
      return { text: sessionOnly(messageOf(thrown)), unwritten: all };
    }
  }
}

function sessionOnly(why: string): string {
  return `kept for this session only: ${why}`;
}

function waiting(label: string): string {
  return `${label} waits for approval, so nothing was written to it: run "toolplane mcp approve --settings"`;
}

/** It would keep agents from starting that are not launched for it. */
const NO_BYPASS = 'mode bypassPermissions is not written to settings';

function isBypass(update: PermissionUpdate): boolean {
  return update.type === 'setMode' && update.mode === 'bypassPermissions';
}

/** What was to be added counts all the same; what was to be taken away is gone from where it is. */
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
  return {
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
