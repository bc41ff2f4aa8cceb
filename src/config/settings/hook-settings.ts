import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import {
  isRegularExpression,
  matcherFault,
  neverRuns,
  type OnFailure,
  type RegisteredHook,
} from '../../hooks/match-hooks.ts';
import { parseRule, type Rule } from '../../permissions/rule.ts';
import { HOOK_EVENTS } from '../../protocol/hook.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import type { SettingDiagnostics } from './setting-keys.ts';

/**
 * Reads `{ Event: [{ matcher, hooks: [{ type: "command", command, args, if, timeout, async, onFailure }] }] }`, with
 * timeouts in seconds. Anything invalid is an error, because the hook may be a guard.
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
    if (event) {
      const unsupported = neverRuns(event);
      if (unsupported !== undefined) faults.warning(['hooks', name], unsupported);
      return readGroups(event, groups, faults);
    }
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

/** Maximum number of matchers checked per event: compiling takes time, and files that are not approved are read too. */
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
        const runs = isRegularExpression(group.matcher ?? '') ? `run for every ${event} event` : 'never run';
        faults.warning([...path, at, 'matcher'], `${why}; the hooks of this matcher ${runs}`);
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
      faults.error([...path, at], isRecord(hook) ? commandFault(hook) : COMMAND_RULE);
      return [];
    }
    const { command, args, timeout, onFailure } = hook;
    const condition = readCondition(hook.if, [...path, at, 'if'], faults);
    return [
      {
        event,
        ...(matcher !== undefined && { matcher }),
        ...(condition && { condition }),
        ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
        ...(onFailure !== undefined && { onFailure }),
        target: {
          kind: 'command',
          command,
          ...(args && { args }),
          ...(hook.async === true && { isBackground: true }),
        },
      },
    ];
  });
}

/** The rule of `if`. It is compared like a deny rule, and a hook whose rule is invalid always runs: it may be a guard. */
function readCondition(
  text: string | undefined,
  path: readonly (string | number)[],
  faults: SettingDiagnostics,
): Rule | undefined {
  if (text === undefined) return undefined;
  const parsed = parseRule(text, 'deny', 'userSettings');
  if (parsed.ok) return parsed.rule;
  faults.warning(path, `${parsed.diagnostic.message}; the hook runs for every call`);
  return undefined;
}

const COMMAND_RULE = 'must be { "type": "command", "command": string, "timeout": seconds }';

function commandFault({ type, shell }: Readonly<Record<string, unknown>>): string {
  if (typeof type === 'string' && OTHER_TYPES.has(type))
    return `hooks of type "${type}" are not supported, so this one does not run; use type "command"`;
  if (type === 'command' && shell === 'powershell')
    return '"shell": "powershell" is not supported, so this hook does not run; start pwsh in "command"';
  return COMMAND_RULE;
}

/** Types of hooks that only the `claude` CLI runs. */
const OTHER_TYPES: ReadonlySet<string> = new Set(['prompt', 'agent', 'http', 'mcp_tool']);

type Group = { readonly matcher?: string; readonly hooks: readonly unknown[] };
type Command = {
  readonly command: string;
  readonly args?: readonly string[];
  readonly if?: string;
  readonly timeout?: number;
  readonly async?: boolean;
  readonly onFailure?: OnFailure;
};

function isGroup(value: unknown): value is Group {
  if (!isRecord(value) || !Array.isArray(value.hooks)) return false;
  return value.matcher === undefined || typeof value.matcher === 'string';
}

function isCommand(value: unknown): value is Command {
  if (!isRecord(value) || value.type !== 'command' || typeof value.command !== 'string') return false;
  const { timeout, args, if: condition, onFailure, shell } = value;
  return (
    (timeout === undefined || (typeof timeout === 'number' && timeout > 0)) &&
    (args === undefined || (Array.isArray(args) && args.every((it) => typeof it === 'string'))) &&
    (condition === undefined || typeof condition === 'string') &&
    (onFailure === undefined || onFailure === 'continue' || onFailure === 'block') &&
    (shell === undefined || shell === 'bash')
  );
}
