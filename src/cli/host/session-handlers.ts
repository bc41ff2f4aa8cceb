import { pathToFileURL } from 'node:url';
import type { HostAnswer, HostHandlers } from '../../host/host-options.ts';

/**
 * Offers every server what a session offers it (`offerTo`): elicitation and the workspace as a root. Some servers list a
 * tool only to clients with these capabilities, so a command that offered less would show fewer tools than an agent gets.
 */
export function sessionHandlers(cwd: string, elicitation: HostAnswer = decline): HostHandlers {
  return {
    elicitation,
    roots: [{ uri: pathToFileURL(cwd).href, name: 'workspace' }],
  };
}

const decline: HostAnswer = () => ({ action: 'decline' });
