import { onlyForbids } from '../approve/settings-part.ts';
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
    servers: servers.flatMap(({ name, members }) => {
      const kept = Object.entries(members).filter(([member, value]) => onlyForbids(member, value));
      return kept.length === 0
        ? []
        : [{ name, members: Object.fromEntries(kept) as ServerOverride['members'] }];
    }),
  };
}
