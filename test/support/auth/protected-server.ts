import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import type { HttpToolServer } from '../../../src/tool-server/serving/listen.ts';
import type { ResourceServerOptions } from '../../../src/tool-server/serving/resource-server.ts';

/**
 * An MCP server that accepts the tokens of an authorization server. Its tool `whoami` returns the subject or client of
 * the token, and `remove` requires the scope `mcp:write`.
 */
export function startProtectedServer(
  issuer: string,
  options: Partial<ResourceServerOptions> = {},
): Promise<HttpToolServer> {
  return toolServer('protected')
    .tool('whoami', 'Returns the caller', {}, (_, { auth }) => auth?.subject ?? auth?.clientId ?? 'unknown')
    .tool('remove', 'Removes a note', {}, () => 'removed')
    .listen({
      auth: {
        issuer,
        scopes: ['mcp:read'],
        toolScopes: { remove: ['mcp:write'] },
        clockToleranceS: 0,
        ...options,
      },
    });
}

/**
 * Signs in as `alice` at the authorization server of the tests, as a browser would, and consents. Returns the URL that
 * the browser would be redirected to at the end.
 */
export async function signInWithoutBrowser(url: URL | string, login = 'alice'): Promise<URL> {
  const start = new URL(url);
  const redirectUri = start.searchParams.get('redirect_uri') ?? '';
  const cookies = new Map<string, string>();
  let request: { readonly url: URL; readonly form?: Record<string, string> } = { url: start };
  for (let step = 0; step < 20; step++) {
    const response = await fetch(request.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((it) => it.join('=')).join('; ') },
      ...(request.form && { method: 'POST', body: new URLSearchParams(request.form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const page = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      const next = new URL(location, request.url);
      if (next.href.startsWith(redirectUri)) return next;
      request = { url: next };
      continue;
    }
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
    if (action === undefined || prompt === undefined)
      throw new Error(`no form at ${request.url.pathname}: ${response.status} ${page.slice(0, 500)}`);
    const form = prompt === 'login' ? { prompt, login, password: 'any' } : { prompt };
    request = { url: new URL(action, request.url), form };
  }
  throw new Error('the sign-in did not end');
}
