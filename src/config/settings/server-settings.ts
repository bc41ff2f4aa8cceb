import { isRecord } from '../../base/is-record.ts';
import type { ServerOverride } from '../model.ts';
import type { SettingFaults } from './setting-fault.ts';
import { checkMembers } from './setting-keys.ts';

type Members = ServerOverride['members'];

/** What settings say of servers by name; a member that is not as it should be does not count. */
export function readServerSettings(
  raw: unknown,
  faults: SettingFaults,
): { readonly name: string; readonly members: Members }[] {
  const rule = 'it must map names of servers to objects';
  const servers = faults.check(raw, ['serverSettings'], isRecord, rule) ?? {};
  return Object.entries(servers).flatMap(([name, value]) => {
    const path = ['serverSettings', name];
    if (!isRecord(value)) {
      faults.error(path, 'it must be an object');
      return [];
    }
    checkMembers(value, Object.keys(MEMBERS), path, faults);
    const members = Object.entries(MEMBERS).flatMap(([member, [isFine, words]]) => {
      const given = value[member];
      if (given === undefined) return [];
      if (isFine(given)) return [[member, given] as const];
      faults.error([...path, member], words);
      return [];
    });
    return [{ name, members: Object.fromEntries(members) as Members }];
  });
}

export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value);
}

export const TIME_RULE = 'it must be a number of milliseconds above 0';

type Check = readonly [(value: unknown) => boolean, string];

const FLAG: Check = [(value) => typeof value === 'boolean', 'it must be true or false'];
const TIME: Check = [isTime, TIME_RULE];
const NAMES: Check = [
  (value) => Array.isArray(value) && value.every((it) => typeof it === 'string' && it !== ''),
  'it must be a list of names of tools',
];

const MEMBERS: Readonly<Record<keyof Members, Check>> = {
  disabled: FLAG,
  trust: FLAG,
  timeout: TIME,
  connectTimeoutMs: TIME,
  idleTimeoutMs: TIME,
  toolTimeoutsMs: [
    (value) => isRecord(value) && Object.values(value).every(isTime),
    'it must map names of tools to milliseconds above 0',
  ],
  includeTools: NAMES,
  excludeTools: NAMES,
  alwaysLoad: FLAG,
  start: [(value) => value === 'on-demand', 'it must be "on-demand" or left out'],
  required: FLAG,
};
