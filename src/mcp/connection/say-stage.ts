import { lastWords } from '../../base/last-words.ts';
import type { Wire } from './wire.ts';

/** How far a server had come when its time was over, and what to do. */
export function sayStage(
  limitMs: number,
  wire: Pick<Wire, 'isOpen' | 'unanswered'> | undefined,
  stderr: readonly string[],
): string {
  const stage = !wire?.isOpen
    ? 'it could not be reached yet'
    : wire.unanswered === undefined
      ? 'it was still being greeted'
      : `it did not answer "${wire.unanswered}"`;
  const said = stderr.length === 0 ? '' : `; it said: ${lastWords(stderr)}`;
  return `it was not ready within ${limitMs} ms: ${stage}; raise connectTimeoutMs if it is slow to start${said}`;
}
