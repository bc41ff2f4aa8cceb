import type { ConnectContext } from '../../connection/connect-context.ts';
import type { Secrets } from '../../connection/secrets.ts';
import { ThrottledWarnings } from '../../connection/throttled-warnings.ts';

/** Reports lines on stdout that are not JSON-RPC messages: as a warning, and as part of the server's last output. */
export function createStdoutWarnings(
  server: string,
  context: Pick<ConnectContext, 'onUnexpectedOutput'>,
  secrets: Secrets,
  note: (line: string) => void,
): ThrottledWarnings {
  return new ThrottledWarnings((output) => {
    // Some servers print the reason why they cannot start on stdout.
    note(`(stdout) ${output}`);
    const subject = { kind: 'stdout', output } as const;
    context.onUnexpectedOutput?.(server, `non-protocol output on stdout: ${output}`, subject);
  }, secrets);
}
