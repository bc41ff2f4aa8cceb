import { pathToFileURL } from 'node:url';
import type { HostHandlers } from '../../host/host-options.ts';

/**
 * Offers servers what a session does (`offerTo`), since some list a tool only to those who could answer its questions.
 * Nobody is asked here: every question is declined.
 */
export function sessionHandlers(cwd: string): HostHandlers {
  return {
    elicitation: () => ({ action: 'decline' }),
    roots: [{ uri: pathToFileURL(cwd).href, name: 'workspace' }],
  };
}
