import { RequestAbortError } from '../../protocol/sdk-error.ts';
import { readFailure } from '../errors/classify-failure.ts';
import { classifyConnectFailure, describeTimeout } from '../errors/connect-failure.ts';
import { HostError } from '../errors/host-error.ts';
import {
  type MissingVariable,
  missingVariable,
  serverEnvironment,
} from '../transports/stdio/server-environment.ts';
import { alternatives } from '../transports/transports.ts';
import type { ConnectContext, ServerEntry } from './connect-context.ts';
import type { Connection } from './connection.ts';
import { type AttemptTraces, ConnectAttempt, establish } from './establish.ts';
import { EraChoice } from './protocol-era.ts';
import { SecretMask } from './secret-mask.ts';

/**
 * Connects to one server: tries the transports that fit its entry, each with the protocol era that the server is known
 * for and once more with another era if that fails. Rejects with a `HostError`, or with an `AbortError` if the signal
 * aborts; a rejected attempt leaves nothing open.
 */
export async function connect(
  name: string,
  entry: ServerEntry,
  context: ConnectContext,
  signal: AbortSignal,
): Promise<Connection> {
  using attempt = new ConnectAttempt(connectTimeoutOf(entry, context), signal);
  const { secrets = new SecretMask() } = context;
  secrets.addEntry(entry);
  const own = { ...context, secrets };
  let first: HostError | undefined;
  const traces: AttemptTraces = {};
  const stderr = () => traces.dialed?.stderr() ?? [];
  for (const candidate of alternatives(entry)) {
    const era = new EraChoice(candidate, own);
    try {
      for (;;) {
        delete traces.wire;
        try {
          const connection = await establish(name, candidate, own, era.known, attempt, traces);
          era.connected(connection.era, traces.wire);
          return connection;
        } catch (failure) {
          if (!era.mayRetry(failure, traces.wire, stderr(), attempt.signal)) throw failure;
        }
      }
    } catch (failure) {
      if (signal.aborted)
        throw new RequestAbortError(`Connecting to "${name}" was aborted`, { cause: failure });
      if (attempt.signal.aborted) {
        const isRenewing = context.auth?.authorizer(name, { url: '', ...candidate })?.isRenewing;
        const detail = describeTimeout(attempt.limitMs, traces.wire, stderr(), isRenewing);
        throw new HostError('timeout', name, detail, { cause: failure, hasRun: 'no' });
      }
      const detail = classifyConnectFailure(name, failure, {
        isProcess: 'command' in candidate,
        isUnanswered: traces.wire?.unanswered !== undefined,
        stderr: stderr(),
        missing: missingOf(candidate, stderr(), context),
        secrets,
      });
      // The failure of the first transport is the informative one, unless the second needs authorization.
      if (first && detail.code !== 'unauthorized') throw first;
      if (first || !mayBeOldSse(failure)) throw detail;
      first = detail;
    }
  }
  throw (
    first ??
    new HostError('bad-config', name, 'no transport matches its entry; check "type", "command" and "url"')
  );
}

function missingOf(
  entry: ServerEntry,
  stderr: readonly string[],
  { env }: ConnectContext,
): MissingVariable | undefined {
  if (!('command' in entry)) return undefined;
  return missingVariable(stderr, { given: serverEnvironment(env, entry, process.platform), host: env });
}

/** Time limit of one attempt, from the start to the first list of tools. */
export function connectTimeoutOf(
  entry: ServerEntry,
  context: Pick<ConnectContext, 'connectTimeoutMs'>,
): number {
  return ('connectTimeoutMs' in entry ? entry.connectTimeoutMs : undefined) ?? context.connectTimeoutMs;
}

/** Whether the URL answered, but not as Streamable HTTP. */
function mayBeOldSse(failure: unknown): boolean {
  const { status, code } = readFailure(failure);
  return SSE_STATUSES.has(status) || code === 'CLIENT_HTTP_UNEXPECTED_CONTENT' || code === 'bad-answer';
}

const SSE_STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 405]);
