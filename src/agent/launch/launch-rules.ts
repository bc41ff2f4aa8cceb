import type { Configuration } from '../../config/configuration.ts';
import { type FileRuleStore, fileRuleStore } from '../../config/settings/file-rule-store.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { absolutePath } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { RuleSet } from '../../permissions/rule-store.ts';
import type { AgentFlags } from './flag-table.ts';
import type { Surroundings } from './surroundings.ts';

/** The rules a session begins with, of flags and files, in a store that keeps "always allow" in files. */
export function launchRules(
  flags: AgentFlags,
  rules: readonly Rule[],
  { world, settings }: Configuration,
  around: Pick<Surroundings, 'cwd' | 'home'> & { note(text: string): void },
): FileRuleStore {
  const first = placedRules(settings, around);
  const mode = flags.skipPermissions ? 'bypassPermissions' : flags.permissionMode;
  const added = (flags.addDirs ?? []).map((path) => ({
    path: absolute(path, around),
    source: 'cliArg' as const,
  }));
  return fileRuleStore({
    world,
    note: around.note,
    initial: {
      rules,
      modes: { ...first.modes, ...(mode && { cliArg: mode }) },
      directories: [...added, ...first.directories],
    },
  });
}

/** What files say of permissions, with directories as paths are compared. */
export function placedRules(
  { permissions }: Pick<Settings, 'permissions'>,
  around: Pick<Surroundings, 'cwd' | 'home'>,
): RuleSet {
  const directories = permissions.directories.map((it) => ({ ...it, path: absolute(it.path, around) }));
  return { ...permissions, directories };
}

function absolute(path: string, { cwd, home }: Pick<Surroundings, 'cwd' | 'home'>): string {
  return absolutePath(path, { cwd, home, directories: [] });
}
