import { type CollectedMessage, textOf } from '../models/message-collector.ts';
import { ModelError } from '../models/model.ts';

/** Why a reply without calls does not end the turn. */
export type Interruption = 'length' | 'broken' | 'empty' | 'refused';

/** How often in a turn the model is asked to continue, and with which text. */
export const CONTINUATIONS: Readonly<Record<Interruption, { readonly max: number; readonly text: string }>> =
  {
    length: {
      max: 3,
      text: 'Your reply was cut off at the length limit. Continue exactly where it stopped.',
    },
    broken: {
      max: 3,
      text: 'The connection broke before your reply was complete. Continue exactly where the part above stops.',
    },
    empty: {
      max: 1,
      text: 'Your reply contained no text. Reply to the user.',
    },
    refused: {
      max: 1,
      text: 'A safety classifier stopped your reply above; no tool and no request failed. The rest of the reply was withheld and its calls were not made. Do not write that content again, in any words.',
    },
  };

export function interruptionOf(reply: CollectedMessage, isBroken: boolean): Interruption | undefined {
  if (isBroken) return 'broken';
  if (reply.stop_reason === 'refusal') return 'refused';
  if (reply.stop_reason === 'max_tokens' || reply.stop_reason === WINDOW_FULL) return 'length';
  return reply.stop_reason === 'end_turn' && textOf(reply.content).trim() === '' ? 'empty' : undefined;
}

const WINDOW_FULL = 'model_context_window_exceeded';

/** The error of a turn whose reply is interrupted once more; undefined if the turn ends normally. */
export function interruptionError(
  why: Interruption,
  { stop_reason, id }: CollectedMessage,
  request: { readonly model: string; readonly maxTokens: number },
): ModelError | undefined {
  if (why === 'refused') {
    const message = `${request.model} refuses to continue (message ${id}); start a new session or change the prompt`;
    return new ModelError('refused', message);
  }
  if (why !== 'length') return undefined;
  const message =
    stop_reason === WINDOW_FULL
      ? 'The model has reached its context window limit.'
      : `The reply exceeded the maximum of ${request.maxTokens} output tokens, also after it was continued.`;
  return new ModelError('reply-limit', message);
}
