import { existsSync } from 'node:fs';
import type { PermissionUpdateDestination } from '../../protocol/permission.ts';
import { homeLabel, projectLabel } from '../sources/labels.ts';
import { findPlaces } from '../sources/places.ts';
import type { ConfigWorld } from '../world.ts';

/** A destination that is kept in files. */
export type FileDestination = Exclude<PermissionUpdateDestination, 'session' | 'cliArg'>;

/** The files of a destination. */
export type RuleFiles = {
  /** Where something new is written: the nearest file there is, else that of the repository. */
  readonly target: string;
  /** Those that are there beside it. */
  readonly others: readonly string[];
  /** Those of a project count only once they are approved. */
  readonly scope: 'user' | 'project' | 'local';
  label(path: string): string;
};

export function isFileDestination(destination: PermissionUpdateDestination): destination is FileDestination {
  return destination !== 'session' && destination !== 'cliArg';
}

/** Undefined in a directory that has no project's files of its own, such as a person's home. */
export function ruleFiles(world: ConfigWorld, destination: FileDestination): RuleFiles | undefined {
  const places = findPlaces(world);
  if (destination === 'userSettings') {
    const label = (path: string) => homeLabel(path, world);
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
    label: (path) => projectLabel(path, world),
  };
}
