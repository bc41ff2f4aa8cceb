import type { Frame } from '../protocol/control-frame.ts';
import type { HookInput } from '../protocol/hook.ts';
import type { HookCallback } from './callbacks.ts';
import type { Options } from './options.ts';

/** Hooks by the ids the agent calls them with. */
export type RegisteredHooks = {
  readonly wire: Record<string, object[]> | undefined;
  readonly callbacks: ReadonlyMap<string, HookCallback>;
};

/** Numbers every callback over all events; an event without matchers is left out (R63, P82). */
export function registerHooks(hooks: Options['hooks']): RegisteredHooks {
  const callbacks = new Map<string, HookCallback>();
  if (!hooks) return { wire: undefined, callbacks };
  const wire: Record<string, object[]> = {};
  for (const [event, matchers] of Object.entries(hooks)) {
    if (matchers.length === 0) continue;
    wire[event] = matchers.map((matcher) => {
      const ids = matcher.hooks.map((hook) => {
        const id = `hook_${callbacks.size}`;
        callbacks.set(id, hook);
        return id;
      });
      return {
        ...(matcher.matcher !== undefined && { matcher: matcher.matcher }),
        hookCallbackIds: ids,
        ...(matcher.timeout !== undefined && { timeout: matcher.timeout }),
        ...(matcher.onFailure !== undefined && { onFailure: matcher.onFailure }),
      };
    });
  }
  return { wire, callbacks };
}

/** Runs one hook for the agent. Its failure is the agent's to judge: it answers as the matcher's `onFailure` says. */
export async function runHook(
  hooks: RegisteredHooks,
  body: Frame,
  signal: AbortSignal,
): Promise<Frame | undefined> {
  const id = String(body.callback_id);
  const hook = hooks.callbacks.get(id);
  if (!hook) throw new Error(`No hook callback found for ID: ${id}`);
  const toolUseId = typeof body.tool_use_id === 'string' ? body.tool_use_id : undefined;
  return (await hook(body.input as HookInput, toolUseId, { signal })) as Frame | undefined;
}
