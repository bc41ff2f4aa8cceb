import { oneOf } from '../one-of.ts';

export type Transport = 'stdio' | 'http' | 'sse' | 'ws';

/** Each way to reach a server, with an example of what it takes. */
export const TRANSPORTS: Readonly<Record<Transport, string>> = {
  stdio: 'npx -y some-server',
  http: 'https://example.com/mcp',
  sse: 'https://example.com/sse',
  ws: 'wss://example.com/mcp',
};

/** Reads `--transport`; what others call them is understood as a hint. */
export const transportName = oneOf(Object.keys(TRANSPORTS) as Transport[], {
  'streamable-http': 'http',
  streamablehttp: 'http',
  streamable: 'http',
  https: 'http',
  remote: 'http',
  url: 'http',
  websocket: 'ws',
  wss: 'ws',
  command: 'stdio',
  local: 'stdio',
});

export function looksLikeUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** A host with a port or a path, such as `localhost:3000/mcp`, is no command. */
export function looksLikeAddress(text: string): boolean {
  return /^(localhost|\d{1,3}(\.\d{1,3}){3}|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d{1,5})(\/\S*)?$/i.test(text);
}
