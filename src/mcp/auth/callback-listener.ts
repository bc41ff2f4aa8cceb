import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRecord } from '../../base/json-value.ts';
import { AuthError } from './auth-types.ts';

/** Waits for the redirect of the browser at the end of a sign-in. */
export type CallbackListener = AsyncDisposable & {
  readonly redirectUri: string;
  readonly port: number;
  /** The first request with the right `state`; other requests are refused and do not end the wait. */
  readonly received: Promise<URL>;
};

type ListenOptions = {
  readonly server: string;
  /** The host of the redirect URI. The listener is bound to 127.0.0.1; for `localhost` also to ::1, if there is one. */
  readonly host: 'localhost' | '127.0.0.1';
  /** Default: a free port. */
  readonly port?: number;
  readonly state: string;
  readonly signal: AbortSignal;
};

const PATH = '/callback';
const MAX_URL_LENGTH = 8 * 1024;
/** Time for the browser to read the answer before the listener closes its connections. */
const CLOSE_MS = 1000;
/** Attempts to find a port that is free on 127.0.0.1 and on ::1. */
const ATTEMPTS = 10;

export async function listenForCallback(options: ListenOptions): Promise<CallbackListener> {
  const { server, host, port: wanted = 0, state, signal } = options;
  const received = Promise.withResolvers<URL>();
  let authority = '';
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const back = redirectOf(request, authority, state);
    if (back === undefined)
      return answer(
        response,
        400,
        'This page does not belong to the current sign-in. Close it and open the sign-in link of the program again.',
      );
    const isFailed = back.searchParams.has('error');
    const outcome = isFailed ? 'The sign-in was refused.' : 'The sign-in is complete.';
    answer(response, 200, `${outcome} You can close this window.`);
    received.resolve(back);
  };
  const servers = await listenOn(host, handle, { port: wanted, signal }, server);
  const [{ port }] = servers.map((it) => it.address() as AddressInfo) as [AddressInfo];
  authority = `${host}:${port}`;
  return {
    redirectUri: `http://${authority}${PATH}`,
    port,
    received: received.promise,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(close));
    },
  };
}

async function listenOn(
  host: ListenOptions['host'],
  handle: RequestListener,
  options: { readonly port: number; readonly signal: AbortSignal },
  server: string,
): Promise<Server[]> {
  for (let attempt = 1; ; attempt++) {
    const first = await listen(handle, { host: '127.0.0.1', ...options }, server);
    if (host !== 'localhost') return [first];
    const { port } = first.address() as AddressInfo;
    try {
      // Another program on ::1 would receive the redirect of browsers that prefer IPv6.
      return [first, await listen(handle, { host: '::1', ...options, port }, server)];
    } catch (failure) {
      // This machine has no IPv6.
      if (!(failure instanceof AuthError)) return [first];
      await close(first);
      if (options.port !== 0 || attempt === ATTEMPTS) throw failure;
    }
  }
}

async function listen(
  handle: RequestListener,
  options: { readonly host: string; readonly port: number; readonly signal: AbortSignal },
  server: string,
): Promise<Server> {
  const http = createServer({ maxHeaderSize: 2 * MAX_URL_LENGTH }, handle);
  http.listen(options);
  try {
    await once(http, 'listening', { signal: options.signal });
    return http;
  } catch (failure) {
    if (!isRecord(failure) || failure.code !== 'EADDRINUSE') throw failure;
    const detail = `port ${options.port} for the redirect of the sign-in is in use; close the program that uses it or change "oauth.callbackPort"`;
    throw new AuthError('port-in-use', server, detail);
  }
}

async function close(http: Server): Promise<void> {
  // An abort only ends listening: connections without a request must be closed too, or they keep the process alive.
  if (!http.listening) return http.closeAllConnections();
  const closed = once(http, 'close');
  http.close();
  http.closeIdleConnections();
  setTimeout(() => http.closeAllConnections(), CLOSE_MS).unref();
  await closed;
}

/** The redirect URL of a request; undefined if the request is not the expected redirect. */
function redirectOf(
  { method, url = '', headers }: IncomingMessage,
  authority: string,
  state: string,
): URL | undefined {
  if (method !== 'GET' || url.length > MAX_URL_LENGTH || headers.host !== authority) return undefined;
  if (!URL.canParse(url, `http://${authority}`)) return undefined;
  const back = new URL(url, `http://${authority}`);
  return back.pathname === PATH && back.searchParams.get('state') === state ? back : undefined;
}

/** A fixed page: no parameter of the request appears in it. */
function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(
    `<!doctype html><title>Toolplane</title><body style="font: 1.2rem system-ui; margin: 4rem"><p>${text}</p></body>`,
  );
}
