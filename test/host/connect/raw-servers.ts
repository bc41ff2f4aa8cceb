import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { StdioServerEntry } from '../../../src/protocol/server-entry.ts';
import { script } from './servers.ts';

/**
 * A process that does with each message what the test says: `take` is the source of a function of the message, `send`,
 * and `greet`, which answers `initialize`. It writes "started" to stderr, and each method it hears.
 */
export function rawServer(take: string): StdioServerEntry {
  return script(`
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const greet = ({ id, params: { protocolVersion } }) => send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } },
    });
    const take = ${take};
    console.error('started');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method) console.error(message.method);
      take(message, send, greet);
    });
  `);
}

type Sent = { message: Record<string, unknown>; options: TransportSendOptions | undefined };

/** A transport that notes what is sent and says what the test makes it say. */
export class NotedTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly sent: Sent[] = [];
  readonly hasPerRequestStream: boolean;
  sendsLike: () => Promise<void> = () => Promise.resolve();

  constructor(kind: 'pipe' | 'http' = 'pipe') {
    this.hasPerRequestStream = kind === 'http';
  }

  async start(): Promise<void> {}

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.sent.push({ message: message as Record<string, unknown>, options });
    return this.sendsLike();
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  say(message: object): void {
    this.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  }
}
