import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHost } from '../../../src/entry/host.ts';
import type { HostOptions } from '../../../src/host/host-options.ts';
import { createAuthFetch } from '../../../src/mcp/auth/auth-fetch.ts';
import type { OnAuthorize } from '../../../src/mcp/auth/auth-types.ts';
import { beginSignIn } from '../../../src/mcp/auth/sign-in.ts';
import {
  type Answer,
  PLANTED,
  type Received,
  redirectOf,
  startHostileServer,
  tokens,
} from '../../support/auth/hostile-server.ts';
import { watchForLeaks } from '../../support/auth/leak-check.ts';

const { see, planted, home, expectNoLeaks } = watchForLeaks();

/** Runs a host that signs in and calls a tool, and records everything that the host reports. */
async function hostile(url: string, entry: object = {}, auth: HostOptions['auth'] = {}) {
  const host = createHost({
    mcpServers: { docs: { type: 'http', url, ...entry } as never },
    cacheDirectory: join(home, 'cache'),
    auth: { onAuthorize: (address) => redirectOf(address), ...auth },
  });
  const events = host.events.on((event) => void see('event', event));
  let failure: unknown;
  try {
    await host.ready({ servers: ['docs'] });
    see('result', await host.callTool('docs', 'hello'));
  } catch (thrown) {
    failure = thrown;
    see('error', thrown);
  }
  const status = host.status();
  see('status', status);
  await host[Symbol.asyncDispose]();
  (events as Disposable)[Symbol.dispose]();
  return { failure, status: status.docs };
}

describe('an MCP server', () => {
  test.each([-1, 0, 1e300, Number.MAX_SAFE_INTEGER, '3600', null])(
    'whose authorization server sends the lifetime %s: the token is used, and no other one is requested',
    async (expires_in) => {
      using server = await startHostileServer({ tokens: () => ({ body: tokens({ expires_in }) }) });
      const { failure } = await hostile(server.url);
      expect(failure).toBeUndefined();
      expect(server.at('/token')).toHaveLength(1);
    },
  );

  test.each([
    ['the entry requires', 'Bearer', { oauth: { dpop: true } }, {}],
    ['its metadata requires', 'Bearer', {}, { dpop_bound_access_tokens_required: true }],
    ['the client requested', 'DPoP', {}, {}],
  ])('receives no token with another binding than %s', async (_, token_type, entry, resource) => {
    using server = await startHostileServer({
      resource: () => resource,
      tokens: () => ({ body: tokens({ token_type }) }),
    });
    const { failure } = await hostile(server.url, entry);
    expect(failure).toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('DPoP'),
    });
    expect(server.at('/mcp').filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  });

  test('that accepts no token ends in needs-auth after a bounded number of sign-ins', async () => {
    using server = await startHostileServer({
      any: ({ path, headers }) =>
        path === '/mcp'
          ? {
              status: 401,
              headers: { 'www-authenticate': `Bearer error="${headers.authorization}"` },
              body: {},
            }
          : undefined,
    });
    const { failure, status } = await hostile(server.url);
    expect(failure).toMatchObject({ code: 'unauthorized' });
    expect(status?.state).toBe('needs-auth');
    expect(server.at('/authorize').length).toBeLessThanOrEqual(4);
  });

  test('that always asks for more scopes ends after a bounded number of sign-ins', async () => {
    let asked = 0;
    using server = await startHostileServer({
      tokens: () => ({ body: tokens({ scope: 'less' }) }),
      any: ({ path, headers, body }) =>
        path === '/mcp' && headers.authorization !== undefined && body.includes('tools/call')
          ? {
              status: 403,
              headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="more-${asked++}"` },
              body: {},
            }
          : undefined,
    });
    const { failure } = await hostile(server.url);
    expect(failure).toMatchObject({ code: 'unauthorized' });
    expect(server.at('/authorize').length).toBeLessThanOrEqual(4);
  });

  test('that redirects to another origin does not make the token leave its own', async () => {
    using other = await startHostileServer({ any: () => ({ body: {} }) });
    using server = await startHostileServer({
      any: ({ path, headers }) =>
        path === '/mcp' && headers.authorization !== undefined
          ? { status: 307, headers: { location: other.url } }
          : undefined,
    });
    const { failure } = await hostile(server.url);
    expect(failure).toBeInstanceOf(Error);
    expect(server.at('/mcp').some(({ headers }) => headers.authorization !== undefined)).toBe(true);
    expect(JSON.stringify(other.requests)).not.toContain('planted');
  });

  test('over SSE that names an endpoint of another origin does not make the token leave its own', async () => {
    using other = await startHostileServer({ any: () => ({ status: 202 }) });
    using server = await startHostileServer({
      any: ({ path, method, headers }) =>
        path === '/mcp' && method === 'GET' && headers.authorization !== undefined
          ? {
              headers: { 'content-type': 'text/event-stream' },
              body: `event: endpoint\ndata: ${other.url}\n\n`,
            }
          : undefined,
    });
    const { failure } = await hostile(server.url, { type: 'sse' });
    expect(failure).toBeInstanceOf(Error);
    expect(JSON.stringify(other.requests)).not.toContain('planted');
  });

  test('that moves to another authorization server does not send it the old refresh token or secret', async () => {
    const issued = { access_token: 'other-access', refresh_token: 'other-refresh' };
    using evil = await startHostileServer({
      registration: ({ body }) => ({ status: 201, body: { ...JSON.parse(body), client_id: 'other' } }),
      tokens: () => ({ body: tokens(issued) }),
    });
    let hasMoved = false;
    using server = await startHostileServer({
      resource: (origin) => ({ authorization_servers: [hasMoved ? evil.origin : origin] }),
      any: ({ path, headers, body }) => {
        if (path !== '/mcp' || headers.authorization === undefined || !body.includes('tools/call'))
          return undefined;
        hasMoved = true;
        return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: {} };
      },
    });
    const asked: string[] = [];
    const onAuthorize: OnAuthorize = (url) => {
      asked.push(url.origin);
      return redirectOf(url);
    };
    await hostile(server.url, {}, { onAuthorize });
    expect(asked).toContain(evil.origin);
    const sent = evil
      .at('/token')
      .map(({ body, headers }) => `${decodeURIComponent(body)} ${headers.authorization}`);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.join()).not.toMatch(/planted.(access|refresh|client)/);
  });

  test.each([
    [
      'its error page',
      (it: Received): Answer => ({ status: 500, body: `token: ${it.headers.authorization}` }),
    ],
    [
      'its JSON-RPC error',
      ({ headers, body }: Received): Answer => ({
        body: {
          jsonrpc: '2.0',
          id: JSON.parse(body).id,
          error: { code: -32603, message: `failed for ${headers.authorization}`, data: headers },
        },
      }),
    ],
    [
      'its challenge',
      ({ headers }: Received): Answer => ({
        status: 403,
        headers: { 'www-authenticate': `Bearer error="${headers.authorization}"` },
        body: {},
      }),
    ],
  ])('that repeats the token in %s: the error does not contain it', async (_, answer) => {
    using server = await startHostileServer({
      any: (it) =>
        it.path === '/mcp' && it.headers.authorization !== undefined && it.body.includes('tools/call')
          ? answer(it)
          : undefined,
    });
    const { failure } = await hostile(server.url);
    expect(failure).toBeInstanceOf(Error);
  });

  test('that revokes the refresh token and repeats it asks for one sign-in', async () => {
    let valid = true;
    using server = await startHostileServer({
      tokens: ({ body }) => {
        if (!body.includes('refresh_token=')) return { body: tokens() };
        return { status: 400, body: { error: 'invalid_grant', error_description: body } };
      },
      any: ({ path, headers, body }) => {
        if (path !== '/mcp' || headers.authorization === undefined || !body.includes('tools/call') || !valid)
          return undefined;
        valid = false;
        return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: {} };
      },
    });
    const { failure } = await hostile(server.url);
    expect(failure).toBeUndefined();
    expect(server.at('/authorize')).toHaveLength(2);
    expect(server.at('/token')).toHaveLength(3);
  });
});

describe('the store of a program', () => {
  const ACCOUNT = { server: 'http://x', issuer: 'http://x', authorizationServer: {}, client: {} };
  test.each([
    ['whose values are not JSON', async () => `{"tokens": "${PLANTED.accessToken}`],
    ['whose values are of another kind', async () => '"text"'],
    ['whose values lack members', async () => '{"tokens":{}}'],
    [
      'whose tokens are of another kind',
      async () => JSON.stringify({ ...ACCOUNT, tokens: { accessToken: 1 } }),
    ],
    ['whose members are of another kind', async () => JSON.stringify({ ...ACCOUNT, client: 'client' })],
  ])('%s is treated as empty', async (_, get) => {
    using server = await startHostileServer();
    // Another process, or a reload, reads the account of the sign-in.
    const written = new Map<string, string>();
    const store = {
      get: async (key: string) => written.get(key) ?? get(),
      set: async (key: string, value: string) => void written.set(key, value),
      delete: async () => {},
    };
    const { failure } = await hostile(server.url, {}, { store });
    expect(failure).toBeUndefined();
  });

  test('that fails with a token in its text', async () => {
    using server = await startHostileServer();
    const fail = async () => {
      throw new Error(`cannot read ${PLANTED.accessToken}`);
    };
    const { failure } = await hostile(server.url, {}, { store: { get: fail, set: fail, delete: fail } });
    expect(failure).toMatchObject({ code: 'unauthorized' });
  });
});

describe('a headersHelper', () => {
  const helper = (name: string, script: string) => {
    const path = join(home, `${name}.mjs`);
    writeFileSync(path, `${RECORD_ARGUMENTS}\n${script}`);
    return `'${process.execPath}' '${path}'`;
  };
  /** Code that records the command lines of this process and of its parents, up to the process of the tests. */
  const RECORD_ARGUMENTS = `
import { appendFileSync, readFileSync } from 'node:fs';
const token = ['planted/helper+token', '93fe1d28'].join('~');
for (let id = process.pid; id > 1 && id !== ${process.pid}; ) {
  try {
    appendFileSync(${JSON.stringify(join(home, 'arguments.txt'))}, readFileSync('/proc/' + id + '/cmdline', 'utf8') + '\\n');
    id = Number(/PPid:\\s+(\\d+)/.exec(readFileSync('/proc/' + id + '/status', 'utf8'))?.[1]);
  } catch { break; }
}`;

  test('that prints its token on stderr and fails', async () => {
    using server = await startHostileServer();
    const headersHelper = helper('failing', `process.stderr.write('token: ' + token); process.exit(1);`);
    const { failure } = await hostile(server.url, { headersHelper });
    expect(failure).toBeInstanceOf(Error);
  });

  test('whose token the server refuses and repeats', async () => {
    using server = await startHostileServer({
      any: ({ path, headers }) =>
        path === '/mcp' ? { status: 400, body: `bad token ${headers.authorization}` } : undefined,
    });
    const headersHelper = helper(
      'printing',
      `console.log(JSON.stringify({ authorization: 'Bearer ' + token }));`,
    );
    const { failure } = await hostile(server.url, { headersHelper });
    expect(failure).toBeInstanceOf(Error);
    expect(server.at('/mcp')[0]?.headers.authorization).toBe(`Bearer ${PLANTED.helperToken}`);
  });
});

describe('the callback listener', () => {
  async function pendingSignIn(url: string) {
    const over = new AbortController();
    const fetch = createAuthFetch({ server: new URL(url), env: {} });
    const deps = { key: url, account: undefined, fetch };
    const pending = await beginSignIn('docs', { url }, deps, { signal: over.signal });
    planted.add(pending.state);
    return { pending, [Symbol.dispose]: () => over.abort() };
  }

  const send = (url: URL | string, options: object = {}) =>
    new Promise<{ status: number; page: string }>((resolve) => {
      const sent = request(url, options, (response) => {
        let page = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (page += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, page }));
      });
      sent.on('error', () => resolve({ status: 0, page: '' }));
      sent.end();
    });

  test.each<[string, (redirect: URL) => [URL, object?]]>([
    ['another Host', (url) => [url, { headers: { host: 'evil.example' } }]],
    ['another port in Host', (url) => [url, { headers: { host: '127.0.0.1:1' } }]],
    ['POST', (url) => [url, { method: 'POST' }]],
    ['HEAD', (url) => [url, { method: 'HEAD' }]],
    ['another path', (url) => [new URL(`/other${url.search}`, url)]],
    ['a URL of 9 KB', (url) => [new URL(`${url.href}&pad=${'x'.repeat(9 * 1024)}`)]],
    ['a URL of 1 MB', (url) => [new URL(`${url.href}&pad=${'x'.repeat(1024 * 1024)}`)]],
    ['another state', (url) => [new URL(url.href.replace(/state=[^&]+/, 'state=forged'))]],
  ])('refuses a request with %s and waits for the right one', async (_, forge) => {
    using server = await startHostileServer();
    using held = await pendingSignIn(server.url);
    const { pending } = held;
    const back = await redirectOf(pending.url);
    const answer = await send(...forge(back));
    expect([0, 400, 431]).toContain(answer.status);
    expect(answer.page).not.toContain('planted');
    expect((await send(back)).status).toBe(200);
    expect((await pending.done).tokens?.accessToken).toBe(PLANTED.accessToken);
    expect(server.at('/token')).toHaveLength(1);
  });

  test('ignores 100 forged requests at once, and its pages repeat nothing', async () => {
    using server = await startHostileServer();
    using held = await pendingSignIn(server.url);
    const { pending } = held;
    const forged = new URL(`${pending.redirectUri}?code=<script>&state=<script>&error=<script>`);
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(forged)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
    const back = await redirectOf(pending.url);
    back.searchParams.set('session_state', '<script>');
    const { status, page } = await send(back);
    expect(status).toBe(200);
    for (const text of [page, ...answers.map((it) => it.page)]) {
      see('page', text);
      expect(text).not.toContain('script');
    }
    await pending.done;
  });

  test('accepts the redirect once', async () => {
    using server = await startHostileServer();
    using held = await pendingSignIn(server.url);
    const { pending } = held;
    const back = await redirectOf(pending.url);
    await Promise.all([send(back), send(back), send(back)]);
    await pending.done;
    expect(server.at('/token')).toHaveLength(1);
    expect((await send(back)).status).toBe(0);
  });
});

test('nothing secret was printed, thrown, reported, stored in a file or passed as an argument', () => {
  expect(expectNoLeaks()).toContain('arguments.txt');
});
