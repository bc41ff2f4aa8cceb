import type { ServerStatus } from '../src/entry/host.ts';

/** Words by which a message tells a person what to do, or what will be done. */
const ADVICE =
  /\b(check|set|give|raise|see|log ?in|authori[sz]e|sign in|install|start|restart|reconnect|run|add|remove|correct|wait|again|retr\w+|configure|turn|use|look|make|ask)\b/i;

/** What is missing of an explanation of a broken server; undefined if a person is told all they need. */
export function lacking(server: string, status: ServerStatus | undefined): string | undefined {
  if (!status) return `status() does not know "${server}"`;
  if (status.state === 'connected') return `status() says "${server}" is connected`;
  const message = status.cause?.message ?? '';
  if (message.trim() === '') return `status() gives no cause for "${server}"`;
  if (!message.includes(server)) return `the cause does not name "${server}": ${message}`;
  if (message.includes('\n')) return `the cause is longer than a line: ${message}`;
  if (!ADVICE.test(message)) return `the cause does not say what to do: ${message}`;
  return undefined;
}
