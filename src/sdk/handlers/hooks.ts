import { isRecord } from '../../base/json-value.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { HookInput } from '../../protocol/hook.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { HookCallback, HookCallbackMatcher, Options } from '../options/options.ts';

type Registered = {
  readonly hook: HookCallback;
  readonly event: string;
  readonly matcher: HookCallbackMatcher;
};

/** Hooks by the ids the agent calls them with. */
export type RegisteredHooks = {
  readonly wire: Record<string, object[]> | undefined;
  readonly callbacks: ReadonlyMap<string, Registered>;
};

/** Numbers the callbacks of all events; events without matchers are omitted (R63). */
export function registerHooks(hooks: Options['hooks']): RegisteredHooks {
  const callbacks = new Map<string, Registered>();
  if (!hooks) return { wire: undefined, callbacks };
  const wire: Record<string, object[]> = {};
  for (const [event, matchers] of Object.entries(hooks)) {
    if (matchers.length === 0) continue;
    wire[event] = matchers.map((matcher) => {
      const ids = matcher.hooks.map((hook) => {
        const id = `hook_${callbacks.size}`;
        callbacks.set(id, { hook, event, matcher });
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

/**
 * Runs one hook for the agent. A failing hook that guards an action blocks it, since agents would continue;
 * `onFailure: 'continue'` overrides that. The failure of any other hook is reported to the agent.
 */
export async function runHook(
  hooks: RegisteredHooks,
  body: Frame,
  signal: AbortSignal,
): Promise<Frame | undefined> {
  const id = String(body.callback_id);
  const registered = hooks.callbacks.get(id);
  if (!registered) throw new Error(`No hook callback found for ID: ${id}`);
  const { hook, event, matcher } = registered;
  try {
    const toolUseId = typeof body.tool_use_id === 'string' ? body.tool_use_id : undefined;
    const output: unknown = await hook(body.input as HookInput, toolUseId, { signal });
    if (output === undefined || output === null || isRecord(output))
      return (output ?? undefined) as Frame | undefined;
    throw new Error(
      `the hook returned ${Array.isArray(output) ? 'a list' : `a ${typeof output}`}, not an object`,
    );
  } catch (thrown) {
    const block = Object.hasOwn(BLOCKS, event) ? BLOCKS[event] : undefined;
    if (!block || matcher.onFailure !== undefined) throw thrown;
    return block(`A ${event} hook failed: ${messageOf(thrown)}`);
  }
}

/** The output that blocks the action, for each event that guards one. */
const BLOCKS: Readonly<Record<string, (reason: string) => Frame>> = {
  PreToolUse: (reason) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }),
  PermissionRequest: (reason) => ({
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: { behavior: 'deny', message: reason },
    },
  }),
  UserPromptSubmit: (reason) => ({ decision: 'block', reason }),
};
