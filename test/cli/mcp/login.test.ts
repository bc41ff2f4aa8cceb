import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { parseRedirect } from '../../../src/cli/mcp/ask-sign-in.ts';
import { sealedCredentialStore } from '../../../src/config/secrets/account-store.ts';
import { openSecretStore } from '../../../src/config/secrets/secret-store.ts';
import type { Account } from '../../../src/mcp/auth/auth-types.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { startAuthorizationServer } from '../../support/auth/authorization-server.ts';
import { redirectOf, startHostileServer } from '../../support/auth/hostile-server.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../support/auth/protected-server.ts';
import { fixture as serverFixture } from '../../support/fixture-server.ts';
import { type McpPlace, mcpPlace, mcpTerminal, projectFile, userFile } from '../support/mcp-place.ts';
import { runCli, startCli } from '../support/run-cli.ts';
import { hasScript } from '../support/terminal-process.ts';

type Line = {
  readonly type: 'authorize' | 'done' | 'failed';
  readonly url: string;
  readonly redirectUri: string;
  readonly code?: string;
  readonly message?: string;
};

/** A home with the server `notes`, which requires a sign-in. */
async function protectedPlace(
  options: Parameters<typeof startAuthorizationServer>[0] = {},
  entry: object = {},
) {
  const idp = await startAuthorizationServer(options);
  const server = await startProtectedServer(idp.issuer);
  const place = mcpPlace();
  place.write(userFile(place), {
    version: 1,
    mcpServers: { notes: { type: 'http', url: server.url, ...entry }, local: serverFixture() },
  });
  const env = { TOOLPLANE_SECRETS: 'file' };
  return {
    ...place,
    idp,
    server,
    env: { ...place.env, ...env },
    mcp: (...args: string[]) => place.mcpWith({ env }, ...args),
    async [Symbol.asyncDispose]() {
      await server.close();
      await idp[Symbol.asyncDispose]();
    },
  };
}

type Place = Pick<McpPlace, 'project'> & { readonly env: Record<string, string> };

/** Runs `mcp login --json`; `person` gets each request to sign in, and writes to stdin or opens the redirect. */
async function login(
  { project, env }: Place,
  person: (line: Line, child: ReturnType<typeof startCli>) => Promise<unknown>,
  ...args: string[]
) {
  const child = startCli(['mcp', 'login', 'notes', '--json', ...args], { cwd: project, env });
  const stderr = text(child.stderr);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines: Line[] = [];
  for await (const row of createInterface({ input: child.stdout })) {
    const found = JSON.parse(row) as Line;
    lines.push(found);
    if (found.type === 'authorize') await person(found, child);
  }
  return { lines, code: await exited, stderr: await stderr };
}

const paste = async ({ url }: Line, child: ReturnType<typeof startCli>) =>
  child.stdin.write(`\n${await signInWithoutBrowser(url)}\n`);

const follow = async ({ url }: Line) => (await fetch(await signInWithoutBrowser(url))).text();

describe('login', () => {
  test('signs in with the redirect from stdin; later commands connect, show it and sign out (R176, R177, R178)', async () => {
    await using place = await protectedPlace();
    const before = await place.mcp('list', '--json');
    expect(authOf(before.stdout)).toEqual({ kind: 'oauth', state: 'needs-auth' });
    expect(before.stdout).toContain('toolplane mcp login notes');

    const { lines, code, stderr } = await login(place, paste, '--no-browser');
    expect(lines).toEqual([
      {
        type: 'authorize',
        url: expect.stringContaining(place.idp.issuer),
        redirectUri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      },
      { type: 'done', server: 'notes' },
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('paste the address') });

    const signedIn = {
      kind: 'oauth',
      state: 'authorized',
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      scopes: expect.arrayContaining(['mcp:read']),
      issuer: place.idp.issuer,
      store: 'file',
    };
    const [list, offline, get, explain] = await Promise.all([
      place.mcp('list', '--json'),
      place.mcp('list', '--json', '--no-connect'),
      place.mcp('get', 'notes', '--json'),
      runIn(place, 'explain', 'server', 'notes', '--json'),
    ]);
    expect(list.code).toBe(0);
    expect(authOf(list.stdout)).toEqual(signedIn);
    expect(authOf(offline.stdout)).toEqual(signedIn);
    expect(JSON.parse(get.stdout).health).toMatchObject({ state: 'connected', auth: signedIn });
    expect(JSON.parse(explain.stdout)).toMatchObject({ status: 'usable', auth: signedIn });
    // The server refuses other tokens, so these commands used the stored one; it is not readable in any file or output.
    expect([...place.idp.grants]).toEqual([['authorization_code', 1]]);
    const shown = [list, offline, get, explain].map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(shown).not.toMatch(/eyJ[\w-]{10,}\./);
    expect(filesOf(place.home)).not.toMatch(/eyJ[\w-]{10,}\./);

    expect(JSON.parse((await place.mcp('logout', 'notes', '--json')).stdout)).toEqual({
      type: 'done',
      server: 'notes',
      removed: true,
      revoked: 'yes',
    });
    expect(place.idp.revokedTokens).toBeGreaterThan(0);
    expect(authOf((await place.mcp('list', '--json', '--no-connect')).stdout)).toEqual({
      kind: 'none',
      state: 'none',
    });
    expect(await place.mcp('logout', 'notes')).toMatchObject({
      code: 0,
      stdout: 'There was no sign-in to notes.\n',
    });
  });

  test('a missing scope is named, requested by the next sign-in, and kept by later ones (R176)', async () => {
    await using place = await protectedPlace();
    const scopes: (string[] | undefined)[] = [];
    const person = (line: Line, child: ReturnType<typeof startCli>) => {
      scopes.push(new URL(line.url).searchParams.get('scope')?.split(' '));
      return paste(line, child);
    };
    const call = () => runIn(place, 'call', 'notes', 'remove');
    expect((await login(place, person)).code).toBe(0);
    const refused = await call();
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toMatch(
      /\(required: mcp:read mcp:write\); sign in again with these scopes: toolplane mcp login notes; [^{]*$/,
    );
    expect((await login(place, person)).code).toBe(0);
    expect(await call()).toMatchObject({ code: 0, stdout: expect.stringContaining('removed') });
    expect((await login(place, person)).code).toBe(0);
    expect(await call()).toMatchObject({ code: 0 });
    const [first, second, third] = scopes;
    expect(first).not.toContain('mcp:write');
    expect(second).toEqual(expect.arrayContaining([...(first ?? []), 'mcp:write']));
    expect(third).toEqual(second);
  });

  test('the redirect of the browser to the local port ends it; a second sign-in replaces the first', async () => {
    await using place = await protectedPlace();
    for (const _ of [1, 2]) {
      const { lines, code } = await login(place, follow);
      expect(lines.map(({ type }) => type)).toEqual(['authorize', 'done']);
      expect(code).toBe(0);
    }
    expect(place.idp.grants.get('authorization_code')).toBe(2);
    // The authorization server is gone: the account is deleted anyway.
    await place.idp[Symbol.asyncDispose]();
    const { code, stdout } = await place.mcp('logout', '--all');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Signed out of notes\. .* did not revoke the tokens/),
    });
    expect(await place.mcp('logout', '--all')).toMatchObject({ code: 0, stdout: '' });
  });

  test('the address of a server that is not configured any more is shown without secrets', async () => {
    await using place = await protectedPlace();
    const { url } = place.server;
    const secret = 'planted-key-1';
    const context = { home: place.home, env: place.env, platform: process.platform };
    const store = sealedCredentialStore(context);
    openSecretStore(context).set('key', secret);
    const { issuer } = place.idp;
    const account = { issuer, authorizationServer: { url: issuer, issuer }, client: { client_id: 'c' } };
    for (const server of [url, `${url}/${secret}?api_key=${secret}`])
      await store.write({ ...account, server } as Account);
    const { stdout, stderr } = await place.mcp('logout', '--all', '--json');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row).server),
    ).toEqual(['notes', `${url}/[redacted]`]);
    expect(stdout + stderr).not.toContain(secret);
  });

  test('mcp logout refuses an entry with its own credentials and keeps the sign-in of another entry', async () => {
    await using place = await protectedPlace();
    const { url } = place.server;
    place.write(userFile(place), {
      mcpServers: { notes: { url }, header: { url, headers: { Authorization: 'Bearer x' } } },
    });
    expect((await login(place, paste)).code).toBe(0);
    expect(await place.mcp('logout', 'header')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('its credentials come from "headers" in its entry'),
    });
    expect(place.idp.revokedTokens).toBe(0);
    const { stdout } = await place.mcp('logout', '--all', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ server: 'notes', removed: true, revoked: 'yes' });
  });

  test('a wrong redirect, a refusal and an interrupt are failures with a code', async () => {
    await using place = await protectedPlace();
    const wrong = await login(place, async (_, child) =>
      child.stdin.write('http://127.0.0.1:1/callback?code=1\n'),
    );
    expect(wrong.lines[1]).toMatchObject({ type: 'failed', code: 'state-mismatch' });
    expect(wrong.code).toBe(1);
    const refused = await login(place, async ({ url }, child) => {
      const state = new URL(url).searchParams.get('state');
      child.stdin.write(`error=access_denied&state=${state}&iss=${encodeURIComponent(place.idp.issuer)}\n`);
    });
    expect(refused.lines[1]).toEqual({
      type: 'failed',
      code: 'denied',
      message: 'MCP server "notes": the sign-in was refused',
    });
    const stopped = await login(place, async (_, child) => child.kill('SIGINT'));
    expect(stopped.lines[1]).toMatchObject({ type: 'failed', code: 'cancelled' });
    expect([wrong.code, refused.code, stopped.code]).toEqual([1, 1, 130]);
  });

  test('an interrupt keeps the earlier sign-in, also if the server asks for more scopes', async () => {
    let isLess = false;
    using server = await startHostileServer({
      any: ({ path, headers }) =>
        path === '/mcp' && headers.authorization === undefined && isLess
          ? {
              status: 403,
              headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' },
              body: {},
            }
          : undefined,
    });
    const own = mcpPlace();
    own.write(userFile(own), { version: 1, mcpServers: { notes: { type: 'http', url: server.url } } });
    const place = { ...own, env: { ...own.env, TOOLPLANE_SECRETS: 'file' } };
    const first = await login(place, async ({ url }) => (await fetch(await redirectOf(new URL(url)))).text());
    expect(first.code).toBe(0);
    isLess = true;
    let scope: string | null = null;
    const stopped = await login(place, async ({ url }, child) => {
      scope = new URL(url).searchParams.get('scope');
      child.kill('SIGINT');
    });
    expect(stopped.lines[1]).toMatchObject({ type: 'failed', code: 'cancelled' });
    expect(scope).toBe('more');
    const listed = await runIn(place, 'mcp', 'list', '--json', '--no-connect');
    expect(JSON.parse(listed.stdout).servers).toMatchObject([{ auth: { state: 'authorized' } }]);
    expect((await runIn(place, 'call', 'notes', 'hello')).stdout).toContain('hello');
    expect(server.at('/token')).toHaveLength(1);
  });

  test.each<[string, string[], number, string, RegExp]>([
    ['an unknown server', ['noets'], 2, 'unknown-server', /did you mean "notes"\?/],
    ['a local server', ['local'], 1, 'not-remote', /only servers with a "url"/],
    ['a server with a token in its entry', ['token'], 1, 'bad-config', /"headers" in its entry/],
    ['a server that is not approved', ['pending'], 1, 'bad-config', /toolplane mcp approve pending/],
  ])('%s is refused, and nothing is sent', async (_, args, code, failed, message) => {
    const place = mcpPlace();
    const url = 'http://127.0.0.1:1/mcp';
    place.write(userFile(place), {
      mcpServers: {
        notes: { url },
        local: serverFixture(),
        token: { url, headers: { authorization: 'Bearer x' } },
      },
    });
    place.write(projectFile(place), { mcpServers: { pending: { url } } });
    const ran = await place.mcp('login', ...args, '--json');
    expect(ran.code).toBe(code);
    expect(JSON.parse(ran.stdout)).toEqual({
      type: 'failed',
      code: failed,
      message: expect.stringMatching(message),
    });
    expect(ran.stderr).toMatch(message);
  });

  test.each<[string, unknown, RegExp]>([
    ['an address that is not known', { url: 'https://${DOCS_HOST}/mcp' }, /DOCS_HOST.* mcp logout --all/],
    ['a local server', serverFixture(), /started by a command/],
  ])('mcp logout names the cause for %s', async (_, entry, message) => {
    const place = mcpPlace();
    place.write(userFile(place), { mcpServers: { docs: entry } });
    expect(await place.mcp('logout', 'docs')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });

  test('a server that needs no sign-in, and an authorization server that registers no clients', async () => {
    await using place = await protectedPlace({ registers: false });
    const { code, stdout } = await place.mcp('login', 'notes', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'failed', code: 'registration-required' });
    await using open = await toolServer('open').listen();
    place.write(userFile(place), { version: 1, mcpServers: { notes: { url: open.url } } });
    expect(await place.mcp('login', 'notes')).toMatchObject({
      code: 0,
      stdout: 'notes does not require a sign-in.\n',
    });
  });

  test('accounts that cannot be read are reported, and servers are listed without them', async () => {
    const place = mcpPlace();
    place.write(userFile(place), { version: 1, mcpServers: { notes: { url: 'http://127.0.0.1:1/mcp' } } });
    place.write(join(place.home, 'secrets.enc'), 'nonsense');
    chmodSync(join(place.home, 'secrets.enc'), 0o600);
    const listed = await place.mcp('list', '--json', '--no-connect');
    expect(listed).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('cannot read the stored accounts'),
    });
    expect(JSON.parse(listed.stdout).servers).toMatchObject([{ name: 'notes', state: 'ready' }]);
    const failed = await place.mcp('login', 'notes', '--json');
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ type: 'failed', code: 'store-unusable' });
  });

  test.runIf(hasScript)('in a terminal, a wrong address is asked for again', async () => {
    await using place = await protectedPlace();
    const terminal = mcpTerminal(place, ['login', 'notes', '--no-browser'], place.env);
    const shown = await terminal.until('Redirect address: ');
    const url = /^ {2}(http\S+)/m.exec(shown.replaceAll('\r', ''))?.[1] ?? '';
    terminal.type('nonsense\r');
    await terminal.until('this is not the redirect address');
    await terminal.until('Redirect address: ');
    terminal.type(`${await signInWithoutBrowser(url)}\r`);
    await terminal.until('Signed in to notes.');
  });
});

/** `auth` of the server `notes` in the output of `mcp list --json`. */
function authOf(stdout: string): unknown {
  const { servers } = JSON.parse(stdout) as { servers: { name: string; auth?: unknown }[] };
  expect(servers.find(({ name }) => name === 'local')).not.toHaveProperty('auth');
  return servers.find(({ name }) => name === 'notes')?.auth;
}

const runIn = ({ project, env }: Place, ...args: string[]) => runCli(args, '', { cwd: project, env });

/** The content of all files below a directory. */
function filesOf(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}

describe('the redirect that is pasted', () => {
  const url = new URL('https://login.test/authorize?state=s1');
  const redirectUri = 'http://127.0.0.1:7000/callback';

  test.each([
    'http://127.0.0.1:7000/callback?code=c&state=s1',
    '  http://127.0.0.1:7000/callback?code=c&state=s1  ',
    'code=c&state=s1',
    '?state=s1&code=c',
  ])('%j is accepted', (line) => {
    const found = parseRedirect(line, url, redirectUri);
    expect(found).toBeInstanceOf(URL);
    expect(String(found)).toMatch(/^http:\/\/127\.0\.0\.1:7000\/callback\?/);
    expect((found as URL).searchParams.get('code')).toBe('c');
  });

  test.each([
    ['nonsense', /not the redirect address/],
    ['https://login.test/authorize?state=s1', /not the redirect address/],
    ['http://127.0.0.1:7001/callback?code=c&state=s1', /not the redirect address/],
    ['http://127.0.0.1:7000/other?code=c&state=s1', /not the redirect address/],
    ['http://127.0.0.1:7000/callback?code=c&state=s2', /another sign-in/],
    ['code=c', /another sign-in/],
  ])('%j is refused', (line, message) => {
    expect(parseRedirect(line, url, redirectUri)).toMatch(message);
  });
});
