import type { ServerStatus } from '../src/entry/host.ts';

/** What the status of a broken server lacks; undefined if it names the server, the cause and a remedy. */
export function lacking(server: string, status: ServerStatus | undefined): string | undefined {
  if (!status) return `status() does not know "${server}"`;
  if (status.state === 'connected') return `status() says "${server}" is connected`;
  const message = status.cause?.message ?? '';
  if (message.trim() === '') return `status() gives no cause for "${server}"`;
  // In quotes, since a server name can be any word.
  if (!message.includes(`"${server}"`)) return `the cause does not name "${server}": ${message}`;
  if (message.includes('\n')) return `the cause is longer than a line: ${message}`;
  if (!advises(message)) return `the cause does not say what to do: ${message}`;
  return undefined;
}

/**
 * Whether a message says what to do, or when the host retries. An instruction is a clause that starts with a verb and
 * names its object: "the check failed" and "it may run again" are not instructions. Output of the server does not count.
 */
export function advises(message: string): boolean {
  const ours = message
    .replaceAll(/\b(?:stderr|response): [^;]*/g, '')
    .replaceAll(/(?:^|\. )[A-Z]/g, (start) => start.toLowerCase());
  return (
    INSTRUCTION.test(ours) || /\b(?:retrying in \d|it is dialled again (?:by itself|once|when))/.test(ours)
  );
}

/** A clause starts at the beginning, after punctuation, or after a condition. */
const CLAUSE = String.raw`(?:^|[;:.] |\bif [^;:,]+, )`;
const VERB =
  '(?:check|set|give|raise|install|start|run|add|renew|correct|see|update|reconnect|make|look (?:into|at|for))';
/** An article or similar, a question word, a quoted value, or the name of a setting. */
const OBJECT = String.raw`(?:(?:its?|the|this|that|your|both|what|whether|why|where|which|how|an?)\b|["\x60]\S|[a-z]+(?:\.[a-z]|[A-Z]))`;
const INSTRUCTION = new RegExp(
  `${CLAUSE}(?:${VERB} ${OBJECT}|sign in(?= (?:again|to|with|at|there)|[;,.]|$))`,
);
