import { onlyForbids } from '../approval/settings-part.ts';
import type { ServerOverride } from '../model.ts';
import type { OneSettings } from './read-settings.ts';

/** What counts of settings nobody approved: whatever takes away, and nothing that allows, runs or sets something. */
export function onlyWhatForbids({ rules, forbidsBypass, servers }: OneSettings): OneSettings {
  return {
    rules: rules.filter(({ effect }) => effect !== 'allow'),
    ...(forbidsBypass && { forbidsBypass }),
    directories: [],
    hooks: [],
    env: {},
    timeouts: {},
    servers: membersThat(onlyForbids, servers),
  };
}

/** The rest of settings that may forbid and set something, and allow nothing: what forbids of servers is not in it. */
export function withoutAllowing(settings: OneSettings): OneSettings {
  return {
    ...settings,
    rules: settings.rules.filter(({ effect }) => effect !== 'allow'),
    directories: [],
    servers: membersThat((member, value) => !onlyForbids(member, value), settings.servers),
  };
}

function membersThat(
  isKept: (member: string, value: unknown) => boolean,
  servers: OneSettings['servers'],
): OneSettings['servers'] {
  return servers.flatMap(({ name, members }) => {
    const kept = Object.entries(members).filter(([member, value]) => isKept(member, value));
    if (kept.length === 0) return [];
    return [{ name, members: Object.fromEntries(kept) as ServerOverride['members'] }];
  });
}

/** Where such settings allow something in vain. */
export function allowingParts({ rules, directories }: OneSettings): (readonly string[])[] {
  return [
    ...(rules.some(({ effect }) => effect === 'allow') ? [['permissions', 'allow']] : []),
    ...(directories.length > 0 ? [['permissions', 'additionalDirectories']] : []),
  ];
}
