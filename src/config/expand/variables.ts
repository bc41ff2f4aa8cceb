import type { Configuration } from '../configuration.ts';

/**
 * The variables that `${…}` in server entries may name: those of the environment and of settings, and
 * `TOOLPLANE_PROJECT_DIR`, the directory the session works in.
 */
export function variablesOf({
  world,
  settings,
}: Pick<Configuration, 'world' | 'settings'>): Readonly<Record<string, string | undefined>> {
  return { ...world.env, ...settings.env, TOOLPLANE_PROJECT_DIR: world.cwd };
}
