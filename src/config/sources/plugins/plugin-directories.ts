import { dirname, join, resolve } from 'node:path';
import type { ConfigFault } from '../../model.ts';
import type { ConfigWorld } from '../../world.ts';
import type { SettingsSource } from '../found.ts';
import { keyText } from '../key-text.ts';

/** The directories that settings name in `plugins`, seen from the file they stand in; `~/` is the person's home. */
export function pluginDirectories(
  { scope, label, path, value, locate }: SettingsSource,
  { cwd, userHome }: Pick<ConfigWorld, 'cwd' | 'userHome'>,
): { readonly directories: readonly string[]; readonly faults: readonly ConfigFault[] } {
  const { plugins } = value;
  if (plugins === undefined) return { directories: [], faults: [] };
  const fault = (way: readonly (string | number)[], message: string): ConfigFault => {
    const position = locate(way);
    return { level: 'error', scope, label, key: keyText(way), ...(position && { position }), message };
  };
  if (!Array.isArray(plugins))
    return { directories: [], faults: [fault(['plugins'], 'it must be a list of directories')] };
  const directories: string[] = [];
  const faults: ConfigFault[] = [];
  const base = path === undefined ? cwd : dirname(path);
  for (const [index, it] of (plugins as unknown[]).entries()) {
    if (typeof it !== 'string' || it === '' || it.includes('\0'))
      faults.push(fault(['plugins', index], 'it must be the path of a directory'));
    else directories.push(/^~[\\/]/.test(it) ? join(userHome, it.slice(2)) : resolve(base, it));
  }
  return { directories, faults };
}
