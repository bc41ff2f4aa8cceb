import { isRecord } from '../../base/is-record.ts';
import { redactText } from '../../base/redact.ts';
import { matchingHooks } from '../../hooks/match-hooks.ts';
import type { ToolRef } from '../../permissions/match.ts';
import type { Configuration } from '../configuration.ts';
import { readHookSettings } from '../settings/hook-settings.ts';
import { SettingFaults } from '../settings/setting-fault.ts';
import { countsWhole } from '../settings/settings.ts';
import type { HookRow } from './explanation.ts';
import { standAt } from './stand.ts';

/** The hooks of settings that hear of a call of this tool before anything is decided, in the order in which they run. */
export function hooksBefore(
  { settings, settingsSources, world }: Pick<Configuration, 'settings' | 'settingsSources' | 'world'>,
  { name, server, tool }: ToolRef,
): HookRow[] {
  const input = {
    hook_event_name: 'PreToolUse',
    session_id: '',
    transcript_path: '',
    cwd: world.cwd,
    tool_name: name,
    ...(server !== undefined && tool !== undefined && { mcp_server: { name: server, source: '', tool } }),
    tool_input: {},
    tool_use_id: '',
  } as const;
  const sources = settingsSources.filter((it) => countsWhole(settings, it));
  return sources.flatMap(({ scope, label, value, locate }) => {
    const groups: unknown = isRecord(value.hooks) ? value.hooks.PreToolUse : undefined;
    return listed(groups).flatMap((group, at) => {
      const hooks = isRecord(group) ? listed(group.hooks) : [];
      return hooks.flatMap((hook, which): HookRow[] => {
        // One at a time, as a file of one: so each is known by its place.
        const alone = { PreToolUse: [{ ...(group as object), hooks: [hook] }] };
        const [found] = matchingHooks(readHookSettings(alone, new SettingFaults()), input);
        if (found?.target.kind !== 'command') return [];
        const place = locate(['hooks', 'PreToolUse', at, 'hooks', which]);
        return [
          {
            ...(found.matcher !== undefined && { matcher: found.matcher }),
            command: redactText(found.target.command),
            at: standAt(scope, label, place),
          },
        ];
      });
    });
  });
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
