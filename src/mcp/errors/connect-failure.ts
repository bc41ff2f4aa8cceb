import { summarizeStderr } from '../../base/process/stderr-summary.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { Secrets } from '../connection/secrets.ts';
import type { Wire } from '../connection/wire.ts';
import { type MissingVariable, missingVariableAdvice } from '../transports/stdio/server-environment.ts';
import { classifyFailure, isRpcError, readFailure } from './classify-failure.ts';
import { HostError } from './host-error.ts';

/** What is left of an attempt. */
type AttemptFacts = {
  readonly isProcess: boolean;
  /** Whether it owed us an answer. */
  readonly isUnanswered: boolean;
  /** What its process wrote last, without secrets. */
  readonly stderr: readonly string[];
  /** The variable that its process says it misses. */
  readonly missing?: MissingVariable | undefined;
  /** What must not be shown though the server says it. */
  readonly secrets?: Secrets;
};

/** What a failed connect means: as `explain`, but a process that is gone was never there. */
export function classifyConnectFailure(server: string, failure: unknown, last: AttemptFacts): HostError {
  if (failure instanceof HostError && failure.code !== 'closed') return failure;
  const { secrets = new Secrets() } = last;
  const fail = (code: HostError['code'], detail: string) =>
    new HostError(code, server, detail, { cause: failure, hasRun: 'no' });
  const { code, syscall = '', message: detail } = readFailure(failure);
  if (syscall.startsWith('spawn')) {
    const command = syscall.slice('spawn '.length);
    return code === 'ENOENT'
      ? fail('spawn-failed', `its command is not found: ${command}; ${howToFind(command)}`)
      : fail(
          'spawn-failed',
          `its command cannot be run (${code}): ${command}; check the file and its rights`,
        );
  }
  const known = isRpcError(failure) ? failure : classifyFailure(server, failure, { secrets });
  if (!(known instanceof HostError))
    return fail('unreachable', `it refused to start: ${secrets.brief(describeRefusal(known))}`);
  const hasDied = code === 'ERA_NEGOTIATION_FAILED' && last.isUnanswered;
  if (last.isProcess && (known.code === 'closed' || hasDied)) {
    const text = last.stderr.length === 0 ? '' : `; it said: ${summarizeStderr(last.stderr)}`;
    const detail = `it ended before it was ready${text}; ${howToGoOn(last.missing)}`;
    const { missing: missingVariable } = last;
    return new HostError('spawn-failed', server, detail, { cause: failure, hasRun: 'no', missingVariable });
  }
  if (known.code === 'closed')
    return fail('closed', `${secrets.brief(detail)}; see whether the server still runs`);
  if (code === 'ERA_NEGOTIATION_FAILED') {
    return fail(
      'unreachable',
      `${secrets.brief(detail)}; if it is an older server, set "era" of its entry to "legacy"`,
    );
  }
  return known;
}

function howToGoOn(missing: MissingVariable | undefined): string {
  if (missing !== undefined) return missingVariableAdvice(missing);
  return `run its command by hand to see more; servers get only a limited environment, so pass variables it needs with -e NAME='\${NAME}'`;
}

/** Many write the whole line where the command alone belongs. */
function howToFind(command: string): string {
  return /\s/.test(command)
    ? 'put what follows its first word into "args", or give its full path'
    : 'install it or give its full path';
}

const UNSUPPORTED_VERSION = -32022;

function describeRefusal(failure: Error): string {
  if (!isRpcError(failure) || failure.code !== UNSUPPORTED_VERSION) return messageOf(failure);
  return 'it speaks no version of the protocol that we do; update it, or this program';
}

/** How far a server had come when its time was over, and what to do. */
export function describeTimeout(
  limitMs: number,
  wire: Pick<Wire, 'isOpen' | 'unanswered'> | undefined,
  stderr: readonly string[],
): string {
  const stage = !wire?.isOpen
    ? 'it could not be reached yet'
    : wire.unanswered === undefined
      ? 'it was still being greeted'
      : `it did not answer "${wire.unanswered}"`;
  const detail = stderr.length === 0 ? '' : `; it said: ${summarizeStderr(stderr)}`;
  return `it was not ready within ${limitMs} ms: ${stage}; raise connectTimeoutMs if it is slow to start${detail}`;
}
