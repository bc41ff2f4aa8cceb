import { ExitFault } from '../control/process-link.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import type { TurnState } from './turn-end.ts';

/** What is known when the agent is gone. */
export type Exit = {
  /** Why the link ended; `undefined` if it ended without a fault. */
  readonly cause: unknown;
  /** We ended it. */
  readonly isExpected: boolean;
  /** It had answered `initialize`. */
  readonly isReady: boolean;
  readonly turn: Pick<TurnState, 'sent' | 'results'>;
  readonly lastResult: Frame | undefined;
};

/** What iterating fails with, or `undefined` if the conversation ended as it should. */
export function exitReason({ cause, isExpected, isReady, turn, lastResult }: Exit): unknown {
  if (cause !== undefined) return explainExit(cause, lastResult);
  if (isExpected) return undefined;
  if (!isReady) return leftEarly('it answered initialize: is it an agent CLI?');
  return turn.sent > 0 && turn.results === 0 ? leftEarly('it gave a result') : undefined;
}

function leftEarly(before: string): SdkError {
  return new SdkError('process-exited', `The agent ended before ${before}`);
}

/** An agent that ends with a failed result says more by it than by its exit code. */
export function explainExit(cause: unknown, lastResult: Frame | undefined): unknown {
  if (!(cause instanceof ExitFault) || lastResult?.is_error !== true) return cause;
  const { errors, result, subtype } = lastResult;
  const listed = Array.isArray(errors)
    ? errors.filter((it) => typeof it === 'string' && it.trim() !== '')
    : [];
  const said = listed.length > 0 ? listed.join('; ') : result || subtype;
  return new SdkError('process-exited', `Claude Code returned an error result: ${messageOf(said)}`, {
    cause,
  });
}
