import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { untilAborted } from '../../base/async/timers.ts';
import { AuthError, type OnAuthorize } from '../../mcp/auth/auth-types.ts';

/** A request to sign in, as it is shown to the person. */
export type SignInRequest = {
  readonly url: URL;
  readonly redirectUri: string;
  /** Whether a browser was started. */
  readonly isOpened: boolean;
};

type AskDeps = {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly input: Pick<ReadStream, 'isTTY'> & NodeJS.ReadableStream;
  readonly opensBrowser: boolean;
  /** Shows the address to open. */
  show(request: SignInRequest): Promise<void>;
  /** Writes text to the terminal, without a newline. */
  prompt(text: string): void;
};

/** Asks a person to sign in: starts a browser, shows the address, and accepts the address of the redirect as input. */
export class SignInPrompt implements Disposable {
  readonly #deps: AskDeps;
  readonly #lines: ReturnType<typeof createInterface>;
  readonly #iterator: AsyncIterator<string>;
  /** A pending read of a question that ended in another way; the next question gets its line. */
  #read: Promise<IteratorResult<string>> | undefined;
  #scope: string | null | undefined;

  constructor(deps: AskDeps) {
    this.#deps = deps;
    this.#lines = createInterface({ input: deps.input, terminal: false });
    this.#iterator = this.#lines[Symbol.asyncIterator]();
  }

  readonly ask: OnAuthorize = async (url, { server, redirectUri, signal }) => {
    const scope = url.searchParams.get('scope');
    if (scope === this.#scope)
      throw new AuthError(
        'denied',
        server,
        "the server rejected the access token of the sign-in; sign in with another account, or report this to the server's author",
      );
    this.#scope = scope;
    const { env, platform, opensBrowser, show } = this.#deps;
    const isOpened = opensBrowser && openBrowser(url, { env, platform });
    await show({ url, redirectUri, isOpened });
    return this.#readRedirect(server, url, redirectUri, signal);
  };

  /** The redirect that is typed or piped; undefined at the end of the input: then only the local port can receive it. */
  async #readRedirect(
    server: string,
    url: URL,
    redirectUri: string,
    signal: AbortSignal,
  ): Promise<URL | undefined> {
    const { input, prompt } = this.#deps;
    for (;;) {
      if (input.isTTY) prompt('Redirect address: ');
      const line = await this.#nextLine(signal);
      if (line === undefined) return undefined;
      if (line.trim() === '') continue;
      const redirect = parseRedirect(line, url, redirectUri);
      if (redirect instanceof URL) return redirect;
      if (!input.isTTY) throw new AuthError('state-mismatch', server, redirect);
      prompt(`${redirect}\n`);
    }
  }

  async #nextLine(signal: AbortSignal): Promise<string | undefined> {
    this.#read ??= this.#iterator.next();
    const { value, done } = await untilAborted(this.#read, signal);
    this.#read = undefined;
    return done ? undefined : value;
  }

  [Symbol.dispose](): void {
    this.#lines.close();
  }
}

/** The redirect in a line: the whole address, or its parameters. A string says what is wrong with it. */
export function parseRedirect(line: string, url: URL, redirectUri: string): URL | string {
  const text = line.trim();
  const whole = /^\??(?:code|state|error|iss)=/.test(text)
    ? `${redirectUri}?${text.replace(/^\?/, '')}`
    : text;
  const expected = new URL(redirectUri);
  const found = URL.canParse(whole) ? new URL(whole) : undefined;
  if (found === undefined || found.origin !== expected.origin || found.pathname !== expected.pathname)
    return `this is not the redirect address; paste the address that starts with ${redirectUri}`;
  if (found.searchParams.get('state') !== url.searchParams.get('state'))
    return 'this redirect address belongs to another sign-in; paste the one that the browser shows after this sign-in';
  return found;
}

/**
 * Starts the browser of the person, without a shell. False if there is none: on Linux without a display, or in an SSH
 * session, unless `BROWSER` names a program.
 */
export function openBrowser(
  url: URL,
  { env, platform }: { readonly env: NodeJS.ProcessEnv; readonly platform: NodeJS.Platform },
): boolean {
  const [command, ...args] = browserCommand(env, platform);
  if (command === undefined) return false;
  const child = spawn(command, [...args, url.href], {
    env,
    stdio: 'ignore',
    detached: true,
    windowsHide: true,
  });
  child.on('error', () => {});
  child.unref();
  return child.pid !== undefined;
}

/** The program that opens a URL; empty if there is none. */
export function browserCommand(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly string[] {
  if (env.BROWSER) return [env.BROWSER];
  if (env.SSH_CONNECTION) return [];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : [];
}
