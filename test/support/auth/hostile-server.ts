import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request to the server, with its body. */
export type Received = {
  readonly method: string;
  readonly path: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};
/** The answer to a request. A function as body writes it piece by piece until it returns undefined. */
export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string | (() => string | undefined | Promise<string | undefined>);
};
/** What the server does differently from an honest one: values replace, `undefined` removes a member. */
export type Hostility = {
  readonly resource?: (origin: string) => object;
  readonly metadata?: (origin: string) => object;
  readonly registration?: (request: Received) => Answer;
  readonly tokens?: (request: Received) => Answer;
  /** Answers any request; undefined leaves it to the other members. */
  readonly any?: (request: Received, origin: string) => Answer | undefined;
};

/** Values that must never leave the requests they belong to. They look different in each encoding. */
export const PLANTED = {
  accessToken: 'planted/access+token~7f3a9c5e',
  refreshToken: 'planted/refresh+token~b81d02e6',
  code: 'planted/code+value~4c90aa17',
  clientSecret: 'planted/client+secret~e5537b0d',
  helperToken: 'planted/helper+token~93fe1d28',
  idToken: 'planted/id+token~60ac4f7b',
};

/**
 * An authorization server and an MCP server on one origin. Without `hostility` it is honest, apart from its fixed codes
 * and tokens.
 */
export async function startHostileServer(hostility: Hostility = {}) {
  const requests: Received[] = [];
  let origin = '';
  const honest = (request: Received): Answer => {
    const { path, url, body } = request;
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return {
        body: { resource: `${origin}/mcp`, authorization_servers: [origin], ...hostility.resource?.(origin) },
      };
    if (path === '/.well-known/oauth-authorization-server')
      return {
        body: {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
          ...hostility.metadata?.(origin),
        },
      };
    if (path === '/register')
      return (
        hostility.registration?.(request) ?? {
          status: 201,
          body: { ...JSON.parse(body), client_id: 'client', client_secret: PLANTED.clientSecret },
        }
      );
    if (path === '/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      const state = url.searchParams.get('state') ?? '';
      back.search = String(new URLSearchParams({ code: PLANTED.code, state, iss: origin }));
      return { status: 302, headers: { location: back.href } };
    }
    if (path === '/token') return hostility.tokens?.(request) ?? { body: tokens() };
    if (path !== '/mcp') return { status: 404, body: {} };
    if (request.headers.authorization !== `Bearer ${PLANTED.accessToken}`)
      return { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: {} };
    return mcpAnswer(request);
  };
  const http = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, response) => {
    void (async () => {
      const url = new URL(incoming.url ?? '', origin);
      const { method = '', headers } = incoming;
      const request = { method, path: url.pathname, url, headers, body: await text(incoming) };
      requests.push(request);
      const { status = 200, headers: extra, body = '' } = hostility.any?.(request, origin) ?? honest(request);
      response.writeHead(status, { 'content-type': 'application/json', ...extra });
      if (typeof body !== 'function') {
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
        return;
      }
      for (let piece = await body(); piece !== undefined && !response.destroyed; piece = await body())
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
      response.end();
    })().catch(() => response.destroy());
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    requests,
    /** The requests to a path. */
    at: (path: string) => requests.filter((it) => it.path === path),
    [Symbol.dispose]: () => {
      http.close();
      http.closeAllConnections();
    },
  };
}

/** A token response. */
export function tokens(changes: object = {}): object {
  return {
    access_token: PLANTED.accessToken,
    refresh_token: PLANTED.refreshToken,
    token_type: 'Bearer',
    expires_in: 3600,
    ...changes,
  };
}

/** The answer of an MCP server of 2025-11-25 with one tool. */
function mcpAnswer({ method, body }: Received): Answer {
  if (method !== 'POST') return { status: 405, body: {} };
  const message = JSON.parse(body);
  if (message.id === undefined) return { status: 202, body: '' };
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: message.params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' },
    },
    'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'hello' }] },
  };
  const result = results[message.method];
  const outcome = result ? { result } : { error: { code: -32601, message: 'unknown method' } };
  return { body: { jsonrpc: '2.0', id: message.id, ...outcome } };
}

/** The redirect of the hostile authorization server, which is not delivered. */
export async function redirectOf(url: URL): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' });
  return new URL(response.headers.get('location') ?? '');
}
