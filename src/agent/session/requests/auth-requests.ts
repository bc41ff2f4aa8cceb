import {
  type AuthEntry,
  type HostAuth,
  isMachineGrant,
  type PendingSignIn,
} from '../../../mcp/auth/auth-types.ts';
import type { Frame } from '../../../protocol/control-frame.ts';
import { messageOf, SdkError } from '../../../protocol/sdk-error.ts';
import type { Session } from '../session.ts';

/** A sign-in that waits for its redirect. */
type WaitingSignIn = {
  readonly pending: PendingSignIn;
  /** Resolves when the person has signed in and the server was connected again. */
  readonly finished: Promise<void>;
  cancel(): void;
};

/** The sign-ins of each session, by server. */
const waiting = new WeakMap<Session, Map<string, WaitingSignIn>>();

/** Time limit of a sign-in that the program completes. */
const SIGN_IN_MS = 10 * 60_000;

/** `mcp_authenticate`: starts a sign-in and returns the address to open. A new one replaces the one that waits. */
export async function authenticate(session: Session, { serverName }: Frame): Promise<Frame> {
  const name = String(serverName);
  const { auth, entry } = remoteServer(session, name);
  const flows = flowsOf(session);
  flows.get(name)?.cancel();
  if (isMachineGrant(entry.oauth)) {
    await reconnect(session, name);
    return { requiresUserAction: false };
  }
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, session.closing]);
  const pending = await auth.begin(name, entry, { signal, timeoutMs: SIGN_IN_MS }).catch((cause) => {
    throw failure(name, cause);
  });
  const finished = pending.done.then(
    () => reconnect(session, name),
    (cause) => Promise.reject(failure(name, cause)),
  );
  const flow = { pending, finished, cancel: () => ended.abort() };
  const end = () => flows.get(name) === flow && flows.delete(name);
  finished.then(
    () => {
      end();
      session.context.note(`signed in to MCP server "${name}"`);
    },
    (cause) => {
      end();
      if (!signal.aborted) session.context.note(`sign-in failed: ${messageOf(cause)}`);
    },
  );
  flows.set(name, flow);
  const { url, state, port } = pending;
  return {
    authUrl: url.href,
    requiresUserAction: true,
    callbackExpected: true,
    redirectScheme: 'localhost',
    state,
    callbackPort: port,
  };
}

/** `mcp_oauth_callback_url`: completes a sign-in with the address that the browser was redirected to. */
export async function takeCallbackUrl(
  session: Session,
  { serverName, callbackUrl }: Frame,
): Promise<undefined> {
  const name = String(serverName);
  remoteServer(session, name);
  const flow = flowsOf(session).get(name);
  if (!flow) throw failure(name, notWaiting(name));
  const text = String(callbackUrl);
  const state = URL.canParse(text) ? new URL(text).searchParams.get('state') : undefined;
  if (!state) throw failure(name, INCOMPLETE_REDIRECT);
  // Only the redirect of this sign-in ends it.
  if (state !== flow.pending.state) throw failure(name, OTHER_REDIRECT);
  flow.pending.complete(text);
  await flow.finished;
}

const notWaiting = (name: string) =>
  `no sign-in is waiting; in the chat, run /mcp login ${name} first, and in a program call mcpAuthenticate()`;
const INCOMPLETE_REDIRECT =
  'the callback address is not a URL with the parameter "state"; pass the complete address that the browser was redirected to';
const OTHER_REDIRECT =
  'the callback address belongs to another sign-in; pass the address of the sign-in that was started last, or start another one';

/** `mcp_clear_auth`: signs out, and connects again without the tokens. */
export async function clearAuth(session: Session, { serverName }: Frame): Promise<Frame> {
  const name = String(serverName);
  const { auth, entry } = remoteServer(session, name);
  flowsOf(session).get(name)?.cancel();
  await auth.signOut(name, entry).catch((cause) => {
    throw failure(name, cause);
  });
  await session.servers.reconnect(name);
  return {};
}

function flowsOf(session: Session): Map<string, WaitingSignIn> {
  const flows = waiting.get(session) ?? new Map<string, WaitingSignIn>();
  waiting.set(session, flows);
  return flows;
}

async function reconnect(session: Session, name: string): Promise<void> {
  const state = await session.servers.reconnect(name);
  if (state && 'fault' in state) throw failure(name, state.fault);
}

/** The entry of a remote server, with its variables substituted. */
function remoteServer(
  { servers, connectDeps }: Session,
  name: string,
): { readonly auth: HostAuth; readonly entry: AuthEntry } {
  const given = servers.all.get(name)?.entry;
  if (!given) throw new SdkError('control-failed', `Server not found: ${name}`, { server: name });
  const { auth, expand } = connectDeps;
  const { entry } = expand?.(name, given) ?? { entry: given };
  const { type = 'http' } = entry;
  const isRemote = 'url' in entry && (type === 'http' || type === 'sse' || type === 'ws');
  if (!isRemote || !auth) throw failure(name, 'only servers with a "url" have a sign-in');
  const remote = entry as AuthEntry;
  if (!auth.authorizer(name, remote))
    throw failure(
      name,
      'its entry sets the credentials itself, so a sign-in has no effect; to sign in, remove "headersHelper" and the header "Authorization" from the entry',
    );
  return { auth, entry: remote };
}

function failure(name: string, cause: unknown): SdkError {
  const detail = typeof cause === 'string' ? cause : messageOf(cause);
  const message = typeof cause === 'string' ? `MCP server "${name}": ${detail}` : detail;
  return new SdkError('control-failed', message, { server: name, detail });
}
