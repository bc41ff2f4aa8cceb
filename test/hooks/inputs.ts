import type { RegisteredHook } from '../../src/hooks/match-hooks.ts';
import type { HookEvent, HookInput, SessionStartHookInput } from '../../src/protocol/hook.ts';

const BASE = { session_id: 's', transcript_path: '/t', cwd: '/w' };

export const preToolUse = (tool: string): HookInput => ({
  ...BASE,
  hook_event_name: 'PreToolUse',
  tool_name: tool,
  tool_input: { a: 1 },
  tool_use_id: 'toolu_1',
});
/** A call of a server's tool; without `tool` it is called as `mcp__server__tool`. */
export const ofServer = (name: string, server: string, tool?: string): HookInput =>
  ({
    ...preToolUse(name),
    mcp_server: { name: server, source: 'user', ...(tool !== undefined && { tool }) },
  }) as HookInput;
export const prompt: HookInput = { ...BASE, hook_event_name: 'UserPromptSubmit', prompt: 'hi' };
export const stop: HookInput = { ...BASE, hook_event_name: 'Stop', stop_hook_active: false };
export const started = (source: SessionStartHookInput['source']): HookInput => ({
  ...BASE,
  hook_event_name: 'SessionStart',
  source,
});

/** A callback hook named by its id. */
export function callback(id: string, more: Partial<RegisteredHook> = {}): RegisteredHook {
  return { event: 'PreToolUse', target: { kind: 'callback', id }, ...more };
}

export function command(text: string, event: HookEvent = 'PreToolUse'): RegisteredHook {
  return { event, target: { kind: 'command', command: text } };
}
