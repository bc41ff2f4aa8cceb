import { ExitFault } from '../control/process-link.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';

/** An agent that ends with a failed result says more by it than by its exit code (P68). */
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
