// Measures the first call of a new host, to a server that requires an access token and to one that does not. Argument as
// JSON: the URL of the module of the host. Each line on stdin, `true` for the protected server, is answered with the
// milliseconds from createHost() to the result of the call.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type * as HostPackage from 'toolplane/host';

const [module = ''] = process.argv.slice(2).map((arg) => JSON.parse(arg) as string);
const { createHost } = (await import(module)) as typeof HostPackage;

const TOKEN = 'access-token';
let origin = '';
const DOCUMENTS: Readonly<Record<string, (url: URL, body: string) => object>> = {
  '/.well-known/oauth-protected-resource/protected': () => ({
    resource: `${origin}/protected`,
    authorization_servers: [origin],
  }),
  '/.well-known/oauth-authorization-server': () => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }),
  '/register': (_, body) => ({ ...JSON.parse(body), client_id: 'client' }),
  '/token': () => ({ access_token: TOKEN, refresh_token: 'refresh', token_type: 'Bearer', expires_in: 3600 }),
};
const RESULTS: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'tiny', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'said' }] }),
};

const http = createServer((request, response) => {
  void (async () => {
    const url = new URL(request.url ?? '', origin);
    const body = await text(request);
    const send = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const document = DOCUMENTS[url.pathname]?.(url, body);
    if (document) return send(url.pathname === '/register' ? 201 : 200, document);
    const isAllowed = url.pathname === '/open' || request.headers.authorization === `Bearer ${TOKEN}`;
    if (!isAllowed) return send(401, {});
    if (request.method !== 'POST') return send(405, {});
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return response.writeHead(202).end();
    const result = RESULTS[method]?.(params ?? {});
    const error = { code: -32601, message: 'unknown method' };
    return send(200, { jsonrpc: '2.0', id, ...(result ? { result } : { error }) });
  })();
});
http.listen(0, '127.0.0.1');
await once(http, 'listening');
origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

/** The token is in the encrypted store of the user after the first sign-in. */
let signIns = 0;
async function firstCall(isProtected: boolean): Promise<number> {
  const url = `${origin}/${isProtected ? 'protected' : 'open'}`;
  const started = performance.now();
  const host = createHost({
    mcpServers: { tiny: { type: 'http', url } },
    auth: {
      onAuthorize: (address, { redirectUri }) => {
        signIns++;
        return `${redirectUri}?code=code&state=${address.searchParams.get('state')}`;
      },
    },
  });
  await host.callTool('tiny', 'say');
  const ms = performance.now() - started;
  await host[Symbol.asyncDispose]();
  return ms;
}

await firstCall(true);
for await (const line of createInterface(process.stdin)) {
  const ms = await firstCall(JSON.parse(line) as boolean);
  if (signIns !== 1) throw new Error(`${signIns} sign-ins instead of one`);
  console.log(JSON.stringify(ms));
}
process.exit(0);
