/** The fields that the minimal servers read of a message. */
export type Incoming = { id?: number | string; method?: string; params?: { arguments?: { n?: number } } };

/** The JSON response of a server with one tool that echoes a number; undefined for a notification. */
export function answer({ id, method, params }: Incoming): string | undefined {
  if (id === undefined) return undefined;
  // The measured request first; numbers need no escaping.
  if (method === 'tools/call') {
    const text = `{"content":[{"type":"text","text":"${Number(params?.arguments?.n)}"}]}`;
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;
  }
  const result = RESULTS[method ?? ''];
  if (!result)
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'tiny', version: '1.0.0' },
  },
  'tools/list': {
    tools: [
      {
        name: 'say',
        description: 'Says a number back',
        inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
    ],
  },
  ping: {},
};
