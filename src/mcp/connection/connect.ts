import { AbortError } from '../../protocol/sdk-error.ts';
import { isRpcError, readFailure } from '../errors/classify-failure.ts';
import { classifyConnectFailure, describeTimeout } from '../errors/connect-failure.ts';
import { HostError } from '../errors/host-error.ts';
import {
  type MissingVariable,
  missingVariable,
  serverEnvironment,
} from '../transports/stdio/server-environment.ts';
import { alternatives } from '../transports/transports.ts';
import type { ConnectContext, KnownEra, ServerEntry } from './connect-context.ts';
import type { Connection } from './connection.ts';
import { type AttemptTraces, ConnectAttempt, establish } from './establish.ts';
import { eraKey } from './protocol-era.ts';
import { Secrets } from './secrets.ts';
import type { Wire } from './wire.ts';

/** Connects to one server. When it rejects, nothing of the attempt is left; an abort rejects with an `AbortError`. */
export async function connect(
  name: string,
  entry: ServerEntry,
  context: ConnectContext,
  signal: AbortSignal,
): Promise<Connection> {
  using attempt = new ConnectAttempt(connectTimeoutOf(entry, context), signal);
  const traces: AttemptTraces = {};
  const { secrets = new Secrets() } = context;
  secrets.addEntry(entry);
  const own = { ...context, secrets };
  let first: HostError | undefined;
  for (const candidate of alternatives(entry)) {
    try {
      return await connectInKnownEra(name, candidate, own, attempt, traces);
    } catch (failure) {
      if (signal.aborted) throw new AbortError(`Connecting to "${name}" was aborted`, { cause: failure });
      if (attempt.signal.aborted) throw timeoutError(name, attempt.limitMs, traces, failure);
      const detail = classifyConnectFailure(name, failure, {
        isProcess: 'command' in candidate,
        isUnanswered: traces.wire?.unanswered !== undefined,
        stderr: traces.dialed?.stderr() ?? [],
        missing: missingOf(candidate, traces.dialed?.stderr() ?? [], context),
        secrets,
      });
      // What the first way met with is what a person should look at, unless the second leads to a sign-in.
      if (first && detail.code !== 'unauthorized') throw first;
      if (first || !mayBeOldSse(failure)) throw detail;
      first = detail;
    }
  }
  throw first ?? new HostError('bad-config', name, 'there is no way to reach it; check its entry');
}

function missingOf(
  entry: ServerEntry,
  stderr: readonly string[],
  { env }: ConnectContext,
): MissingVariable | undefined {
  if (!('command' in entry)) return undefined;
  return missingVariable(stderr, { given: serverEnvironment(env, entry, process.platform), host: env });
}

/** Dials as the server was found to speak before, and once more if that turns out to be wrong or the probe ended it. */
async function connectInKnownEra(
  name: string,
  entry: ServerEntry,
  context: ConnectContext,
  attempt: ConnectAttempt,
  traces: AttemptTraces,
): Promise<Connection> {
  const key = eraKey(entry, context.cwd);
  const remember = (verdict: KnownEra | undefined) => {
    if (key !== undefined) context.eraCache?.remember(key, verdict);
  };
  const dialAs = async (known: KnownEra | undefined): Promise<Connection> => {
    delete traces.wire;
    const connection = await establish(name, entry, context, known, attempt, traces);
    remember(eraOf(connection, traces));
    return connection;
  };
  const isSuspected = key !== undefined && context.skipProbeOnce?.delete(key) === true;
  const recalled = key === undefined ? undefined : context.eraCache?.recall(key);
  const known = isSuspected ? LEGACY : recalled;
  try {
    return await dialAs(known);
  } catch (failure) {
    const verdict = eraForRetry({ failure, known, wire: traces.wire });
    // One that has no time left is not dialled now; but the next dial need not fail of the same.
    if (attempt.signal.aborted && verdict !== undefined)
      remember(verdict === 'unknown' ? undefined : verdict);
    if (attempt.signal.aborted || verdict === undefined || !isEraUnset(entry)) throw failure;
    // It said why it ended, and nothing of the probe: that is reported now, and the next dial does without the probe.
    if (key !== undefined && context.skipProbeOnce && isStartFailure(traces.dialed?.stderr() ?? [])) {
      context.skipProbeOnce.add(key);
      throw failure;
    }
    return dialAs(verdict === 'unknown' ? undefined : verdict);
  }
}

const LEGACY: KnownEra = { era: 'legacy' };

/** Whether the entry leaves the era to us. */
function isEraUnset(entry: ServerEntry): boolean {
  return !('era' in entry) || entry.era === undefined || entry.era === 'auto';
}

function eraOf({ era }: Connection, { wire }: AttemptTraces): KnownEra {
  if (wire?.lateDiscovery)
    return { era: 'modern', discover: { supportedVersions: wire.lateDiscovery.supportedVersions } };
  return era === 'modern' ? { era, discover: {} } : { era };
}

/** Time limit of one attempt, from dialling to the first list of tools. */
export function connectTimeoutOf(
  entry: ServerEntry,
  context: Pick<ConnectContext, 'connectTimeoutMs'>,
): number {
  return ('connectTimeoutMs' in entry ? entry.connectTimeoutMs : undefined) ?? context.connectTimeoutMs;
}

/** Whether something answered there, but not by streamable HTTP. */
function mayBeOldSse(failure: unknown): boolean {
  const { status, code } = readFailure(failure);
  return SSE_STATUSES.has(status) || code === 'CLIENT_HTTP_UNEXPECTED_CONTENT' || code === 'bad-answer';
}

const SSE_STATUSES: ReadonlySet<number | undefined> = new Set([400, 404, 405]);

function timeoutError(
  name: string,
  limitMs: number,
  { wire, dialed }: AttemptTraces,
  cause: unknown,
): HostError {
  const detail = describeTimeout(limitMs, wire, dialed?.stderr() ?? []);
  return new HostError('timeout', name, detail, { cause, hasRun: 'no' });
}

/** How far a dial came that failed. */
type FailedAttempt = {
  readonly failure: unknown;
  /** What was known of its era before. */
  readonly known: KnownEra | undefined;
  readonly wire: Pick<Wire, 'isProcessLike' | 'isProbeUnanswered' | 'lateDiscovery'> | undefined;
};

/** What the server is taken for when it is dialled once more; undefined if that would not help. */
export function eraForRetry({ failure, known, wire }: FailedAttempt): KnownEra | 'unknown' | undefined {
  if (known?.era === 'legacy') return isRefusal(failure) ? 'unknown' : undefined;
  // A server on the network that ignores the probe may answer an older client.
  if (!wire?.isProcessLike) return wire?.isProbeUnanswered && isTimeout(failure) ? LEGACY : undefined;
  // It started so slowly that its answer to the question for its era came after we had gone on.
  if (wire.lateDiscovery) return { era: 'modern', discover: wire.lateDiscovery };
  // It died of the question, or has been odd since.
  return wire.isProbeUnanswered ? LEGACY : undefined;
}

function isTimeout(failure: unknown): boolean {
  return readFailure(failure).code === 'REQUEST_TIMEOUT';
}

/**
 * Whether the last lines of a process that ended say that it could not start: it gave a reason, and that reason is not
 * about what it was asked. Such a process is not started again at once, since that would only delay the report.
 */
export function isStartFailure(lines: readonly string[]): boolean {
  const reasons = lines.filter((line) => line.trim() !== '' && !ENDING.test(line));
  return reasons.length > 0 && !reasons.some((line) => AFTER_START.some((text) => text.test(line)));
}

/** How the process ended, as the transport notes it. */
const ENDING = /^\((?:exited with code|ended by|it closed)\b.*\)$/;

/** What a server says once it runs, and what it says of a message that it cannot handle. */
const AFTER_START: readonly RegExp[] = [
  /running|listening|serving|started|\bready\b|stdio|stdin/i,
  /discover|initiali[sz]ed|["'`]initialize|handshake|protocol|(?<![.\w])json|rpc|session|clientInfo|capabilit/i,
  /method|request|message|\bparams\b|dispatch|handler|receiv/i,
  /pars(?:e|ing)|serializ|marshal|decod/i,
  /unexpected|unrecogni[sz]|panick|of (?:undefined|null)\b|NoneType/i,
];

/** Whether it answered that it does not want to be spoken to so. */
function isRefusal(failure: unknown): boolean {
  if (isRpcError(failure)) return true;
  const { status = 0 } = readFailure(failure);
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}
