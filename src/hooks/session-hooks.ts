import { isRecord } from '../base/json-value.ts';
import { truncate } from '../base/text/display-text.ts';
import { type BaseHookInput, HOOK_EVENTS, type HookEvent, type HookInput } from '../protocol/hook.ts';
import type { HookEffect } from './hook-effect.ts';
import type { OnFailure, RegisteredHook } from './match-hooks.ts';
import { type HookContext, type HookFailure, runHooks } from './run-hooks.ts';

/** The input fields of one event, without those of every event. */
export type EventFields<Event extends HookEvent> = Omit<
  Extract<HookInput, { hook_event_name: Event }>,
  keyof BaseHookInput | 'hook_event_name'
> &
  Partial<Pick<BaseHookInput, 'agent_id' | 'agent_type' | 'cwd' | 'effort'>>;

/** Maximum length of texts of hooks, which become part of the conversation and of every request. */
const MAX_REASON_LENGTH = 10_000;

/** The hooks of one session. */
export class SessionHooks {
  #hooks: readonly RegisteredHook[];
  readonly #base: () => BaseHookInput;
  readonly #context: HookContext;
  readonly #onFailure: (failure: HookFailure) => void;
  readonly #onMessage: (message: string) => void;

  constructor(options: {
    readonly hooks: readonly RegisteredHook[];
    base(): BaseHookInput;
    readonly context: HookContext;
    onFailure(failure: HookFailure): void;
    /** Called with the `systemMessage` of hooks. */
    onMessage(message: string): void;
  }) {
    this.#hooks = [...options.hooks];
    this.#base = () => options.base();
    this.#onFailure = (failure) => options.onFailure(failure);
    this.#context = { ...options.context, onBackgroundFailure: this.#onFailure };
    this.#onMessage = (message) => options.onMessage(message);
  }

  /** Replaces the callbacks of the program; shell commands stay. */
  setCallbacks(callbacks: readonly RegisteredHook[]): void {
    this.#hooks = [...this.#commands(), ...callbacks];
  }

  #commands(): RegisteredHook[] {
    return this.#hooks.filter(({ target }) => target.kind === 'command');
  }

  has(event: HookEvent): boolean {
    return this.#hooks.some((hook) => hook.event === event);
  }

  /** Runs the hooks of an event; the effect is empty if there are none. Never rejects. */
  async run<Event extends HookEvent>(
    event: Event,
    fields: EventFields<Event>,
    signal: AbortSignal,
    toolUseId?: string,
  ): Promise<HookEffect> {
    const hooks = runsCommandsOnly(event, fields as object) ? this.#commands() : this.#hooks;
    if (!hooks.some((hook) => hook.event === event)) return {};
    const { permission_mode, ...base } = this.#base();
    const mode = WITHOUT_MODE.has(event) ? {} : { permission_mode };
    const input = { ...base, ...mode, hook_event_name: event, ...fields } as unknown as HookInput;
    const during = { signal, ...(toolUseId !== undefined && { toolUseId }) };
    const { effect, failures } = await runHooks(hooks, input, this.#context, during);
    // A hook that was aborted has not failed.
    for (const failure of signal.aborted ? [] : failures) this.#onFailure(failure);
    if (effect.systemMessage !== undefined) this.#onMessage(effect.systemMessage);
    return {
      ...effect,
      ...(effect.additionalContext !== undefined && {
        additionalContext: truncate(effect.additionalContext, MAX_REASON_LENGTH, '… [cut]'),
      }),
      ...(effect.reason !== undefined && { reason: truncate(effect.reason, MAX_REASON_LENGTH, '… [cut]') }),
    };
  }
}

/** Events whose input has no permission mode, as in the official CLI. */
const WITHOUT_MODE: ReadonlySet<HookEvent> = new Set([
  'SessionStart',
  'SessionEnd',
  'SubagentStart',
  'TaskCreated',
  'TaskCompleted',
]);

/**
 * The start and the end of a process are events for commands only. In the official CLI, a program registers its callbacks
 * after the start and has closed the connection before the end.
 */
function runsCommandsOnly(
  event: HookEvent,
  fields: { readonly source?: unknown; readonly reason?: unknown },
): boolean {
  if (event === 'SessionEnd') return fields.reason !== 'clear';
  return event === 'SessionStart' && fields.source !== 'clear' && fields.source !== 'compact';
}

/** Parses `hooks` of `initialize`: callbacks of the program, by event, with timeouts in seconds. */
export function readCallbackHooks(value: unknown): RegisteredHook[] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, matchers]) => {
    const event = HOOK_EVENTS.find((it) => it === name);
    return event && Array.isArray(matchers) ? matchers.flatMap((matcher) => readMatcher(event, matcher)) : [];
  });
}

function readMatcher(event: HookEvent, value: unknown): RegisteredHook[] {
  if (!isRecord(value) || !Array.isArray(value.hookCallbackIds)) return [];
  const { matcher, timeout, onFailure } = value;
  const ids = value.hookCallbackIds.filter((id) => typeof id === 'string');
  return ids.map((id) => ({
    event,
    ...(typeof matcher === 'string' && { matcher }),
    ...(typeof timeout === 'number' && timeout > 0 && { timeoutMs: timeout * 1000 }),
    ...((onFailure === 'block' || onFailure === 'continue') && { onFailure: onFailure as OnFailure }),
    target: { kind: 'callback', id },
  }));
}
