import type { Configuration } from '../configuration.ts';
import { readOneSettings } from '../settings/read-settings.ts';
import { countsWhole } from '../settings/settings.ts';
import type { LimitRow } from './explanation.ts';
import { standAt } from './stand.ts';

type Said = LimitRow['said'][number];

/** Limits in files of the project that nobody approved: people wonder why they do nothing. The highest first. */
export function pendingLimits(
  { settings, settingsSources }: Pick<Configuration, 'settings' | 'settingsSources'>,
  server: string,
  tool?: string,
): Readonly<Record<LimitRow['limit'], readonly Said[]>> {
  const all: Record<LimitRow['limit'], Said[]> = { connect: [], call: [], idle: [] };
  const waiting = settingsSources.filter((source) => !countsWhole(settings, source));
  for (const { value, scope, label, locate } of waiting.reverse()) {
    const say = (limit: LimitRow['limit'], ms: number | undefined, by: string, path: readonly string[]) => {
      if (ms === undefined) return;
      all[limit].push({ ms, by, at: standAt(scope, label, locate(path)), counts: false, isPending: true });
    };
    const { timeouts, servers } = readOneSettings(value, scope).settings;
    for (const { members } of servers.filter(({ name }) => name === server)) {
      const own = (limit: LimitRow['limit'], ms: number | undefined, ...way: string[]) =>
        say(limit, ms, `serverSettings.${server}.${way.join('.')}`, ['serverSettings', server, ...way]);
      own('connect', members.connectTimeoutMs, 'connectTimeoutMs');
      const { toolTimeoutsMs = {} } = members;
      if (tool !== undefined && Object.hasOwn(toolTimeoutsMs, tool))
        own('call', toolTimeoutsMs[tool], 'toolTimeoutsMs', tool);
      own('call', members.timeout, 'timeout');
      own('idle', members.idleTimeoutMs, 'idleTimeoutMs');
    }
    say('connect', timeouts.connectMs, 'timeouts.connectMs of settings', ['timeouts', 'connectMs']);
    say('call', timeouts.callMs, 'timeouts.callMs of settings', ['timeouts', 'callMs']);
    say('idle', timeouts.idleMs, 'timeouts.idleMs of settings', ['timeouts', 'idleMs']);
  }
  return all;
}
