import type { HostServerEntry } from '../../../../src/entry/host.ts';
import type { Book } from '../fixtures/book.ts';
import { listen, type Service } from '../fixtures/listen.ts';
import { serveHttpLegacy } from '../fixtures/serve-http-legacy.ts';
import { serveHttpModern } from '../fixtures/serve-http-modern.ts';
import { serveSse } from '../fixtures/serve-sse.ts';
import { serveWs } from '../fixtures/serve-ws.ts';
import type { Far, SetUp } from './set-up.ts';
import { startIde } from './start-ide.ts';
import { IN_PROCESS } from './start-sdk.ts';
import { startStdio } from './start-stdio.ts';

/** Every way to reach the contract server, in both eras where there are two. */
export const SET_UPS: readonly SetUp[] = [
  { name: 'stdio legacy', era: 'legacy', start: () => startStdio('legacy') },
  { name: 'stdio modern', era: 'modern', start: () => startStdio('modern') },
  { name: 'http legacy', era: 'legacy', start: at(serveHttpLegacy, http('http', '/mcp')) },
  { name: 'http modern', era: 'modern', start: at(serveHttpModern, http('http', '/mcp')) },
  { name: 'sse', era: 'legacy', start: at(serveSse, http('sse', '/sse')) },
  { name: 'ws legacy', era: 'legacy', start: at(serveWs('legacy'), ws) },
  { name: 'ws modern', era: 'modern', start: at(serveWs('modern'), ws) },
  { name: 'ws-ide', era: 'legacy', start: () => startIde('ws-ide') },
  { name: 'sse-ide', era: 'legacy', start: () => startIde('sse-ide') },
  { name: 'url that speaks http', era: 'legacy', start: at(serveHttpLegacy, http(undefined, '/mcp')) },
  { name: 'url that speaks sse', era: 'legacy', start: at(serveSse, http(undefined, '/sse')) },
  { name: 'sdk own', era: 'legacy', start: IN_PROCESS.own },
  { name: 'sdk McpServer v1', era: 'legacy', start: IN_PROCESS.v1 },
  { name: 'sdk factory v2', era: 'legacy', start: IN_PROCESS.v2 },
];

function at(serve: (book: Book) => Service, entryAt: (port: number) => HostServerEntry): () => Promise<Far> {
  return async () => {
    const far = await listen(serve);
    return { ...far, entry: entryAt(far.port) };
  };
}

function http(type: 'http' | 'sse' | undefined, path: string) {
  return (port: number): HostServerEntry => ({
    ...(type && { type }),
    url: `http://127.0.0.1:${port}${path}`,
  });
}

function ws(port: number): HostServerEntry {
  return { type: 'ws', url: `ws://127.0.0.1:${port}/` };
}
