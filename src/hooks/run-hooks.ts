import { startTimer } from '../base/async/timers.ts';
import type { HookInput } from '../protocol/hook.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { type CommandEnd, commandOutput } from './command-output.ts';
import { type HookEffect, mergeEffects, readHookOutput } from './hook-effect.ts';
import { matchingHooks, type OnFailure, onFailure, type RegisteredHook } from './match-hooks.ts';

/** Runs callbacks and commands of hooks; the signal aborts when the output is no longer needed. */
export type HookContext = {
  readonly callback: (
    id: string,
    input: HookInput,
    toolUseId: string | undefined,
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly spawn: (
    command: string,
    stdin: string,
    signal: AbortSignal,
    args?: readonly string[],
  ) => Promise<CommandEnd>;
  /** The user's home directory, for paths in conditions of hooks. */
  readonly home?: string;
  /** Called if a hook that runs in the background fails. */
  readonly onBackgroundFailure?: (failure: HookFailure) => void;
};

/** A failed hook and the consequence. */
export type HookFailure = {
  readonly hook: RegisteredHook;
  readonly message: string;
  readonly consequence: OnFailure;
};

/** The merged effect of all hooks; failures are included according to the policy of the event. */
type HookOutcome = {
  readonly effect: HookEffect;
  readonly ran: number;
  readonly failures: readonly HookFailure[];
};

/** Runs the hooks of an event in parallel and merges their effects in the order of registration; never rejects. */
export async function runHooks(
  hooks: readonly RegisteredHook[],
  input: HookInput,
  context: HookContext,
  during: { readonly toolUseId?: string; readonly signal: AbortSignal },
): Promise<HookOutcome> {
  const matching = matchingHooks(hooks, input, context.home);
  const failures: HookFailure[] = [];
  const effects = await Promise.all(
    matching.map(async (hook): Promise<HookEffect> => {
      const run = () =>
        withHookTimeout(hook, during.signal, (signal) =>
          reach(hook, input, context, during.toolUseId, signal),
        );
      if (hook.target.kind === 'command' && hook.target.isBackground) {
        run().catch((thrown: unknown) => {
          const failure = { hook, message: messageOf(thrown), consequence: 'continue' } as const;
          if (!during.signal.aborted) context.onBackgroundFailure?.(failure);
        });
        return {};
      }
      try {
        return readHookOutput(await run());
      } catch (thrown) {
        const consequence = onFailure(hook.event, hook.onFailure);
        failures.push({ hook, message: messageOf(thrown), consequence });
        if (consequence === 'continue') return {};
        const reason = `A ${hook.event} hook failed: ${messageOf(thrown)}`;
        return { decision: 'deny', reason, hasFailed: true };
      }
    }),
  );
  return { effect: mergeEffects(effects), ran: matching.length, failures };
}

async function reach(
  hook: RegisteredHook,
  input: HookInput,
  context: HookContext,
  toolUseId: string | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const { target } = hook;
  if (target.kind === 'callback') return context.callback(target.id, input, toolUseId, signal);
  const end = await context.spawn(target.command, JSON.stringify(input), signal, target.args);
  return commandOutput(hook.event, end);
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Ends the wait at the timeout or abort, even if the work ignores its signal. */
async function withHookTimeout<T>(
  hook: RegisteredHook,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new Error('interrupted before the hook ran');
  const controller = new AbortController();
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const end = (message: string) => {
    reject(new Error(message));
    controller.abort();
  };
  const onAbort = () => end('interrupted while the hook ran');
  const limit = hook.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timer = startTimer(limit, () =>
    end(`timed out after ${limit / 1000} s; raise its "timeout" (in seconds) if it may take longer`),
  );
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), cut]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
