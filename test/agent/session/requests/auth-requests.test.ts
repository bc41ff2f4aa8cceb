import { expect, test } from 'vitest';
import { ServerAuth } from '../../../../src/mcp/auth/authorizer.ts';
import { memoryCredentialStore } from '../../../../src/mcp/auth/credential-store.ts';
import type { Frame } from '../../../../src/protocol/control-frame.ts';
import { startAuthorizationServer } from '../../../support/auth/authorization-server.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../../support/auth/protected-server.ts';
import { raw } from '../../../support/drive.ts';
import { fixture } from '../../../support/fixture-server.ts';

/** A session with the server `notes`, which requires a sign-in. */
async function protectedSession(servers: Frame = {}) {
  const idp = await startAuthorizationServer();
  const server = await startProtectedServer(idp.issuer);
  const auth = new ServerAuth({ store: memoryCredentialStore(), env: {} });
  const notes: string[] = [];
  const entries = { notes: { type: 'http', url: server.url }, ...servers } as never;
  const opened = raw([], {
    servers: entries,
    connect: {
      env: {},
      cwd: process.cwd(),
      connectTimeoutMs: 20_000,
      clientInfo: { name: 'test', version: '1' },
      auth,
    },
    note: (text) => notes.push(text),
  });
  await opened.session.servers.ready();
  const { ask } = opened;
  const body = async (subtype: string, more: Frame = {}) => {
    const { response, error } = await ask(subtype, { serverName: 'notes', ...more });
    if (error !== undefined) throw new Error(String(error));
    return (response ?? {}) as Frame;
  };
  return {
    ...opened,
    auth,
    idp,
    notes,
    body,
    status: async () => (await body('mcp_status')).mcpServers as { name: string; status: string }[],
    async [Symbol.asyncDispose]() {
      await server.close();
      await idp[Symbol.asyncDispose]();
    },
  };
}

test('mcp_authenticate and mcp_oauth_callback_url sign in, and mcp_clear_auth signs out, without a restart', async () => {
  await using it = await protectedSession();
  expect(await it.status()).toMatchObject([{ name: 'notes', status: 'needs-auth' }]);
  const started = await it.body('mcp_authenticate');
  expect(started).toEqual({
    authUrl: expect.stringContaining(`${it.idp.issuer}/auth?`),
    requiresUserAction: true,
    callbackExpected: true,
    redirectScheme: 'localhost',
    state: new URL(String(started.authUrl)).searchParams.get('state'),
    callbackPort: expect.any(Number),
  });
  const back = await signInWithoutBrowser(String(started.authUrl));
  const wrong = new URL(back);
  wrong.searchParams.set('state', 'other');
  for (const [callbackUrl, fault] of [
    [wrong.href, /another sign-in/],
    ['no url', /complete address/],
    ['', /complete address/],
  ] as const)
    await expect(it.body('mcp_oauth_callback_url', { callbackUrl })).rejects.toThrow(fault);
  expect(await it.body('mcp_oauth_callback_url', { callbackUrl: back.href })).toEqual({});
  expect(await it.status()).toMatchObject([{ name: 'notes', status: 'connected' }]);
  expect(it.notes).toContain('signed in to MCP server "notes"');
  await expect(it.body('mcp_oauth_callback_url', { callbackUrl: back.href })).rejects.toThrow(
    'MCP server "notes": no sign-in is waiting; in the chat, run /mcp login notes first, and in a program call mcpAuthenticate()',
  );

  expect(await it.body('mcp_clear_auth')).toEqual({});
  expect(await it.status()).toMatchObject([{ name: 'notes', status: 'needs-auth' }]);
  expect(it.idp.revokedTokens).toBeGreaterThan(0);
});

test('the redirect to the local port completes the sign-in too, and a new sign-in replaces the one that waits', async () => {
  await using it = await protectedSession();
  const first = await it.body('mcp_authenticate');
  const second = await it.body('mcp_authenticate');
  expect(second.state).not.toBe(first.state);
  await expect(fetch(`http://127.0.0.1:${first.callbackPort}/callback`)).rejects.toThrow();
  const page = await fetch(await signInWithoutBrowser(String(second.authUrl)));
  expect(await page.text()).toContain('complete');
  await expect.poll(() => it.notes, { timeout: 30_000 }).toContain('signed in to MCP server "notes"');
  expect(await it.status()).toMatchObject([{ name: 'notes', status: 'connected' }]);
});

test('a refused sign-in fails with its reason, and the end of the session closes the local port', async () => {
  await using it = await protectedSession();
  const { state } = await it.body('mcp_authenticate');
  const callbackUrl = `http://127.0.0.1/callback?error=access_denied&state=${state}&iss=${it.idp.issuer}`;
  await expect(it.body('mcp_oauth_callback_url', { callbackUrl })).rejects.toThrow(
    'MCP server "notes": the sign-in was refused',
  );
  const { callbackPort } = await it.body('mcp_authenticate');
  it.session.end();
  await it.session.done;
  await expect(fetch(`http://127.0.0.1:${callbackPort}/callback`)).rejects.toThrow();
});

test.each(['mcp_authenticate', 'mcp_oauth_callback_url', 'mcp_clear_auth'])(
  '%s is an error for servers without a sign-in',
  async (subtype) => {
    const url = 'http://127.0.0.1:1/mcp';
    const token = { type: 'http', url, headers: { authorization: 'Bearer x' }, start: 'on-demand' };
    await using it = await protectedSession({ fix: fixture(), token });
    const failed = (serverName: string) => it.ask(subtype, { serverName });
    expect(await failed('nope')).toMatchObject({ error: 'Server not found: nope' });
    expect(await failed('fix')).toMatchObject({
      error: expect.stringContaining('only servers with a "url"'),
    });
    expect(await failed('token')).toMatchObject({
      error: expect.stringContaining('sets the credentials itself'),
    });
  },
);
