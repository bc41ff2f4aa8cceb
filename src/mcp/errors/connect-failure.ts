import { summarizeStderr } from '../../base/process/stderr-summary.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { SecretMask } from '../connection/secret-mask.ts';
import type { Wire } from '../connection/wire.ts';
import { type MissingVariable, missingVariableAdvice } from '../transports/stdio/server-environment.ts';
import { classifyFailure, isRpcError, readFailure } from './classify-failure.ts';
import { HostError } from './host-error.ts';

/** What is known about a failed attempt. */
type AttemptFacts = {
  readonly isProcess: boolean;
  /** Whether a request was pending. */
  readonly isUnanswered: boolean;
  /** The last stderr lines, with secrets masked. */
  readonly stderr: readonly string[];
  /** The variable that the process reported missing. */
  readonly missing?: MissingVariable | undefined;
  /** Masked in text that comes from the server. */
  readonly secrets?: SecretMask;
};

/** Classifies a failed connect: like `classifyFailure`, but a process that exited is reported as a failed start. */
export function classifyConnectFailure(server: string, failure: unknown, last: AttemptFacts): HostError {
  if (failure instanceof HostError && failure.code !== 'closed') return failure;
  const { secrets = new SecretMask() } = last;
  const fail = (code: HostError['code'], detail: string) =>
    new HostError(code, server, detail, { cause: failure, hasRun: 'no' });
  const { code, syscall = '', message: detail } = readFailure(failure);
  if (syscall.startsWith('spawn')) {
    const command = syscall.slice('spawn '.length);
    return code === 'ENOENT'
      ? fail('spawn-failed', `command not found: ${command}; ${howToFind(command)}`)
      : fail(
          'spawn-failed',
          `command cannot be run (${code}): ${command}; check that the file exists and is executable`,
        );
  }
  const known = isRpcError(failure) ? failure : classifyFailure(server, failure, { secrets });
  if (!(known instanceof HostError))
    return fail(
      'unreachable',
      `the server rejected the connection: ${secrets.brief(describeRefusal(known))}`,
    );
  const hasDied = code === 'ERA_NEGOTIATION_FAILED' && last.isUnanswered;
  if (last.isProcess && (known.code === 'closed' || hasDied)) {
    const text = last.stderr.length === 0 ? '' : `; stderr: ${summarizeStderr(last.stderr)}`;
    const detail = `its process exited before it was ready${text}; ${howToGoOn(last.missing)}`;
    const { missing: missingVariable } = last;
    return new HostError('spawn-failed', server, detail, { cause: failure, hasRun: 'no', missingVariable });
  }
  if (known.code === 'closed')
    return fail('closed', `${secrets.brief(detail)}; check that the server is still running`);
  if (code === 'ERA_NEGOTIATION_FAILED') {
    return fail(
      'unreachable',
      `${secrets.brief(detail)}; if the server only supports MCP 2025-11-25 or earlier, set "era" to "legacy" in its entry`,
    );
  }
  return known;
}

function howToGoOn(missing: MissingVariable | undefined): string {
  if (missing !== undefined) return missingVariableAdvice(missing);
  return `run its command by hand to see more; servers inherit only a few environment variables, so pass others with "env" in its entry (option -e NAME='\${NAME}' of toolplane mcp add)`;
}

/** A common mistake is to write the whole command line into "command". */
function howToFind(command: string): string {
  return /\s/.test(command)
    ? 'set "command" to its first word and move the rest to "args"'
    : 'install it or set an absolute path in "command"';
}

const UNSUPPORTED_VERSION = -32022;

function describeRefusal(failure: Error): string {
  if (!isRpcError(failure) || failure.code !== UNSUPPORTED_VERSION) return messageOf(failure);
  return 'the server supports none of the protocol versions of this client; update the server or Toolplane';
}

/** The stage at which the connect timeout expired, and a remedy. */
export function describeTimeout(
  limitMs: number,
  wire: Pick<Wire, 'isOpen' | 'unanswered'> | undefined,
  stderr: readonly string[],
  isRenewing = false,
): string {
  if (isRenewing)
    return `the server was not ready within ${limitMs} ms: its authorization server had not yet renewed the access token; raise connectTimeoutMs if that server is slow`;
  const stage = !wire?.isOpen
    ? 'no connection yet'
    : wire.unanswered === undefined
      ? 'the handshake had not finished'
      : `no response to "${wire.unanswered}"`;
  const detail = stderr.length === 0 ? '' : `; stderr: ${summarizeStderr(stderr)}`;
  return `the server was not ready within ${limitMs} ms: ${stage}; raise connectTimeoutMs if the server is slow to start${detail}`;
}
