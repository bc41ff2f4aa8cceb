import type { UserBlock } from '../../protocol/agent-message.ts';

/** One tool use of an assistant message. */
export type ToolCall = { readonly id: string; readonly name: string; readonly input: unknown };

/** What a call came to, as the model is told it. */
export type ToolOutcome = {
  readonly content: string | UserBlock[];
  readonly isError: boolean;
  /** What the program is told beside it, where that is more. */
  readonly told?: unknown;
};

/** A call once permissions and hooks have spoken: to be run, or already answered. */
export type PreparedCall =
  | {
      readonly kind: 'run';
      /** Calls that may run side by side with their neighbours: read-only or independent ones. */
      readonly beside: 'others' | 'none';
      /** Must not reject; what fails is an outcome. What it comes to more than a moment after `signal` aborted is not heard. */
      run(signal: AbortSignal): Promise<ToolOutcome>;
    }
  | { readonly kind: 'answered'; readonly outcome: ToolOutcome };

export function failedOutcome(text: string): ToolOutcome {
  return { content: text, isError: true };
}

export function resultBlock(call: ToolCall, { content, isError }: ToolOutcome): UserBlock {
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content,
    ...(isError && { is_error: true }),
  };
}
