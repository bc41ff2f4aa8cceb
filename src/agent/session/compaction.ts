import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { type Compacted, compact } from '../loop/compact.ts';
import type { Model, ModelMessage } from '../models/model.ts';

/** The result of `/compact` if the conversation cannot be made smaller. */
export const NOT_COMPACTED = 'Not enough messages to compact.';

type CompactionDeps = {
  readonly model: Model;
  modelName(): string;
  readonly hooks: SessionHooks;
  emit(message: Frame): void;
  /** Receives the usage of the summary. */
  onUsage(model: string, usage: Usage): void;
  /** The messages have been replaced. Called before the messages about the compaction are sent. */
  replaced(done: Compacted): void;
  /** Adds the text of a SessionStart hook to the conversation. */
  addContext(text: string): void;
};

/**
 * Replaces the older messages of a conversation by a summary, runs the hooks of a compaction and sends its messages.
 * Returns whether the conversation is shorter now.
 */
export async function compactConversation(
  messages: ModelMessage[],
  { model, modelName, hooks, emit, onUsage, replaced, addContext }: CompactionDeps,
  request: {
    readonly trigger: 'manual' | 'auto';
    readonly system: string;
    readonly signal: AbortSignal;
    readonly instructions: string | undefined;
  },
): Promise<boolean> {
  const { trigger, system, signal, instructions } = request;
  const fields = { trigger, custom_instructions: instructions ?? null };
  const before = await hooks.run('PreCompact', fields, signal);
  if (before.decision === 'deny' && trigger === 'manual') return false;
  emit({ type: 'system', subtype: 'status', status: 'compacting' });
  const done = await compact(messages, {
    model,
    modelName: modelName(),
    system,
    signal,
    ...(instructions !== undefined && { instructions }),
  }).catch((cause) => {
    emit({ type: 'system', subtype: 'status', status: null });
    throw cause;
  });
  const outcome =
    done.how === 'unchanged'
      ? { compact_result: 'failed', compact_error: NOT_COMPACTED }
      : { compact_result: 'success' };
  emit({ type: 'system', subtype: 'status', status: null, ...outcome });
  if (done.usage.input_tokens + done.usage.output_tokens > 0) onUsage(modelName(), done.usage);
  if (done.how === 'unchanged') return false;
  messages.splice(0, messages.length, ...done.messages);
  replaced(done);
  const { preTokens, postTokens, summary } = done;
  const compact_metadata = { trigger, pre_tokens: preTokens, post_tokens: postTokens };
  emit({ type: 'system', subtype: 'compact_boundary', compact_metadata });
  if (trigger === 'manual' && summary !== '')
    emit({
      type: 'user',
      message: { role: 'user', content: summary },
      parent_tool_use_id: null,
      timestamp: new Date().toISOString(),
      isReplay: false,
      isSynthetic: true,
    });
  await hooks.run('PostCompact', { trigger, compact_summary: summary } as never, signal);
  const started = await hooks.run('SessionStart', { source: 'compact', model: modelName() }, signal);
  if (started.additionalContext !== undefined) addContext(started.additionalContext);
  return true;
}
