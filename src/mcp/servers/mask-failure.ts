import { HostError } from '../connection/host-error.ts';
import { Secrets } from '../connection/secrets.ts';

/** The same failure, in words that hold none of the secrets: a path or a command may have been made of one. */
export function maskFailure(failure: unknown, values: readonly string[]): unknown {
  if (!(failure instanceof HostError) || values.length === 0) return failure;
  const prefix = failure.server === '' ? '' : `MCP server "${failure.server}": `;
  const fault = failure.message.slice(prefix.length);
  const masked = new Secrets(values).mask(fault);
  if (masked === fault) return failure;
  const { code, server, cause, isTerminal, hasRun, retryAfterMs, missingVariable } = failure;
  const more = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new HostError(code, server, masked, { cause, isTerminal, hasRun, missingVariable, ...more });
}
