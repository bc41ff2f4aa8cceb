import type { ServerStatus } from '../src/entry/host.ts';

/** What is missing of an explanation of a broken server; undefined if a person is told all they need. */
export function lacking(server: string, status: ServerStatus | undefined): string | undefined {
  if (!status) return `status() does not know "${server}"`;
  if (status.state === 'connected') return `status() says "${server}" is connected`;
  const message = status.cause?.message ?? '';
  if (message.trim() === '') return `status() gives no cause for "${server}"`;
  // In quotes, for a name may be any word of a sentence.
  if (!message.includes(`"${server}"`)) return `the cause does not name "${server}": ${message}`;
  if (message.includes('\n')) return `the cause is longer than a line: ${message}`;
  if (!advises(message)) return `the cause does not say what to do: ${message}`;
  return undefined;
}

/**
 * Whether a message tells a person what to do, or when it is tried again without them. An instruction is a clause of its
 * own that begins with a verb and says what to do it to: "the check failed" and "it may run again" are none. What the
 * server said does not count, for it is not our advice.
 */
export function advises(message: string): boolean {
  const ours = message
    .replaceAll(/\bit said: [^;]*/g, '')
    .replaceAll(/(?:^|\. )[A-Z]/g, (start) => start.toLowerCase());
  return (
    INSTRUCTION.test(ours) || /\b(?:retrying in \d|it is dialled again (?:by itself|once|when))/.test(ours)
  );
}

/** A clause begins with the text, after a mark that ends another one, or after a condition. */
const CLAUSE = String.raw`(?:^|[;:.] |\bif [^;:,]+, )`;
const VERB =
  '(?:check|set|give|raise|install|start|run|add|correct|see|update|reconnect|make|look (?:into|at|for))';
/** An article and the like, a question, something in quotes, or the name of a setting. */
const OBJECT = String.raw`(?:(?:its?|the|this|that|your|both|what|whether|why|where|which|how|an?)\b|["\x60]\S|[a-z]+(?:\.[a-z]|[A-Z]))`;
const INSTRUCTION = new RegExp(
  `${CLAUSE}(?:${VERB} ${OBJECT}|sign in(?= (?:again|to|with|at|there)|[;,.]|$))`,
);
