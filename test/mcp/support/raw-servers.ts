import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { StdioServerEntry } from '../../../src/protocol/server-entry.ts';
import { script } from './servers.ts';

/**
 * A process that handles each message with code of the test: `take` is the source of a function of the message, `send`,
 * and `greet`, which answers `initialize`. The process writes "started" and each received method to stderr.
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

/** A server that repeats the credential in its `SERVICE_TOKEN` in everything a server can send. */
export const leakingServer = {
  ...rawServer(`(message, send, greet) => {
    const key = process.env.SERVICE_TOKEN, { id, method, params } = message;
    const said = { key, [key]: 1, url: encodeURIComponent(key), basic: Buffer.from('u:' + key).toString('base64') };
    if (method === 'initialize') return send({ id, result: {
      protocolVersion: params.protocolVersion, capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} },
      serverInfo: { name: 'raw ' + key, version: key }, instructions: 'use ' + key } });
    if (method === 'tools/list') return send({ id, result: { tools: [
      { name: 't', description: key, inputSchema: { type: 'object', properties: { a: { default: key } } } }] } });
    if (method === 'prompts/list') return send({ id, result: { prompts: [{ name: 'p', description: key }] } });
    if (method === 'resources/list') return send({ id, result: { resources: [{ name: 'r', uri: 'a:b', description: key }] } });
    if (method === 'resources/templates/list') return send({ id, result: { resourceTemplates: [] } });
    if (method === 'tools/call' && params.name === 'fail') return send({ id, error: { code: -32000, message: 'no: ' + key, data: said } });
    if (method === 'tools/call') {
      globalThis.call = id;
      send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1, message: key } });
      send({ method: 'notifications/message', params: { level: 'info', logger: key, data: said } });
      return send({ id: 'q', method: 'elicitation/create', params: { message: key, requestedSchema: { type: 'object', properties: { a: { type: 'string', title: key } } } } });
    }
    if (id === 'q') return send({ id: globalThis.call, result: { content: [{ type: 'text', text: key }], structuredContent: said } });
    if (id !== undefined) send({ id, error: { code: -32601, message: key } });
  }`),
  era: 'legacy' as const,
};

type Sent = { message: Record<string, unknown>; options: TransportSendOptions | undefined };

/** A transport that records sent messages and delivers the messages of the test. */
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
