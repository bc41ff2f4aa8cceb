import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import { matcherFault, type RegisteredHook } from '../../hooks/match-hooks.ts';
import { HOOK_EVENTS } from '../../protocol/hook.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import type { SettingDiagnostics } from './setting-keys.ts';

/**
 * Reads `{ Event: [{ matcher, hooks: [{ type: "command", command, timeout }] }] }`, with timeouts in seconds. Anything
 * invalid is an error, because the hook may be a guard.
 */
export function readHookSettings(
  raw: unknown,
  faults: SettingDiagnostics,
  format?: SettingsSource['format'],
): RegisteredHook[] {
  if (raw === undefined) return [];
  if (!isRecord(raw) || Array.isArray(raw)) {
    faults.error(['hooks'], 'must be an object that maps event names to lists');
    return [];
  }
  return Object.entries(raw).flatMap(([name, groups]) => {
    const event = HOOK_EVENTS.find((it) => it === name);
    if (event) return readGroups(event, groups, faults);
    if (format === 'claude') {
      faults.warning(['hooks', name], 'is not an event of Toolplane, so its hooks do not run');
      return [];
    }
    const guess = nearest(name, HOOK_EVENTS);
    faults.error(['hooks', name], `unknown event${guess ? `; did you mean "${guess}"?` : ''}`);
    return [];
  });
}

type Event = RegisteredHook['event'];

/** Per event: compiling takes time, and a project's file is read before it is approved. */
const MAX_CHECKED_MATCHERS = 20;

function readGroups(event: Event, groups: unknown, faults: SettingDiagnostics): RegisteredHook[] {
  const path = ['hooks', event];
  if (!Array.isArray(groups)) {
    faults.error(path, 'must be a list');
    return [];
  }
  return groups.flatMap((group: unknown, at) => {
    if (isGroup(group)) {
      const fault = at < MAX_CHECKED_MATCHERS ? matcherFault(group.matcher ?? '') : undefined;
      if (fault !== undefined) {
        const why = `not a valid regular expression (RE2 syntax): ${fault}`;
        faults.warning(
          [...path, at, 'matcher'],
          `${why}; the hooks of this matcher run for every ${event} event`,
        );
      }
      return readGroup(event, group, [...path, at, 'hooks'], faults);
    }
    faults.error([...path, at], 'must be { "matcher": string, "hooks": list }');
    return [];
  });
}

function readGroup(
  event: Event,
  { matcher, hooks }: Group,
  path: readonly (string | number)[],
  faults: SettingDiagnostics,
): RegisteredHook[] {
  return hooks.flatMap((hook, at) => {
    if (!isCommand(hook)) {
      faults.error([...path, at], 'must be { "type": "command", "command": string, "timeout": seconds }');
      return [];
    }
    const { command, timeout } = hook;
    return [
      {
        event,
        ...(matcher !== undefined && { matcher }),
        ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
        target: { kind: 'command', command },
      },
    ];
  });
}

type Group = { readonly matcher?: string; readonly hooks: readonly unknown[] };
type Command = { readonly command: string; readonly timeout?: number };

function isGroup(value: unknown): value is Group {
  if (!isRecord(value) || !Array.isArray(value.hooks)) return false;
  return value.matcher === undefined || typeof value.matcher === 'string';
}

function isCommand(value: unknown): value is Command {
  if (!isRecord(value) || value.type !== 'command' || typeof value.command !== 'string') return false;
  return value.timeout === undefined || (typeof value.timeout === 'number' && value.timeout > 0);
}
