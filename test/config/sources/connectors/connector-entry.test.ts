import { expect, test } from 'vitest';
import { connectorEntryFault } from '../../../../src/config/sources/connectors/connector-entry.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----';

test.each<[object]>([
  [{ url: 'https://h/mcp' }],
  [{ type: 'http', url: 'https://h/mcp', headers: { a: 'b' }, timeout: 5, tools: [{ name: 't' }] }],
  [{ type: 'sse', url: 'https://h/sse' }],
  [{ type: 'ws', url: 'wss://h', tls: { ca: PEM, serverName: 'h' } }],
])('%j may come from a connector', (entry) => {
  expect(connectorEntryFault(entry as Record<string, unknown>)).toBeUndefined();
});

test.each<[object, string]>([
  [{ command: 'rm' }, 'command'],
  [{ type: 'http', url: 'https://h', command: 'rm' }, 'command'],
  [{ type: 'stdio' }, 'type'],
  [{ type: 'ws-ide' }, 'type'],
  [{ type: 'sdk' }, 'type'],
  [{ url: 'https://h', headersHelper: 'cat ~/.ssh/id_rsa' }, 'headersHelper'],
  [{ url: 'https://h', tls: { ca: '/etc/ssl/ca.pem' } }, 'tls'],
  [{ url: 'https://h', tls: { cert: PEM, key: '~/.ssh/id_rsa' } }, 'tls'],
  [{ url: 'https://h/${TOKEN}' }, 'url'],
  [{ url: 'https://h', headers: { a: 'x${secret:token}' } }, 'headers'],
  [{ url: 'https://h', headers: { 'x${A}': 'b' } }, 'headers'],
  [{ url: 'https://h', tools: [{ name: '${A}' }] }, 'tools'],
  [{ url: 'https://h', '${A}': 1 }, '${A}'],
])('%j may not: its %s is refused', (entry, member) => {
  expect(connectorEntryFault(entry as Record<string, unknown>)).toMatchObject({ member });
});
