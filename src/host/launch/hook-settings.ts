import { isRecord } from '../../base/is-record.ts';
import { nearest } from '../../base/nearest.ts';
import { HOOK_EVENTS } from '../../protocol/hook.ts';
import type { RegisteredHook } from '../hook/match-hooks.ts';

/**
 * The shell commands of `{ Event: [{ matcher, hooks: [{ type: "command", command, timeout }] }] }`, time-outs in seconds.
 * Whatever cannot be read is a fault: a guard that is not understood would not guard.
 */
export function readHookSettings(
  raw: unknown,
  where: string,
): { readonly hooks: readonly RegisteredHook[]; readonly faults: readonly string[] } {
  const hooks: RegisteredHook[] = [];
  const faults: string[] = [];
  const fault = (path: string, text: string) => void faults.push(`${where}: "${path}" ${text}`);
  if (raw === undefined) return { hooks, faults };
  if (!isRecord(raw)) fault('hooks', 'must be an object of lists');
  for (const [name, groups] of Object.entries(isRecord(raw) ? raw : {})) {
    const event = HOOK_EVENTS.find((it) => it === name);
    const guess = nearest(name, HOOK_EVENTS);
    if (!event) fault(`hooks.${name}`, `is no event${guess ? `; did you mean "${guess}"?` : ''}`);
    else if (!Array.isArray(groups)) fault(`hooks.${name}`, 'must be a list');
    else
      for (const [index, group] of groups.entries()) {
        const path = `hooks.${name}[${index}]`;
        if (isGroup(group))
          hooks.push(...group.hooks.flatMap((hook, at) => read(event, group, hook, `${path}.hooks[${at}]`)));
        else fault(path, 'must be { "matcher": text, "hooks": list }');
      }
  }
  return { hooks, faults };

  function read(
    event: RegisteredHook['event'],
    { matcher }: Group,
    hook: unknown,
    path: string,
  ): RegisteredHook[] {
    if (!isCommand(hook)) {
      fault(path, 'must be { "type": "command", "command": text, "timeout": seconds }');
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
  }
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
