import { HostError } from '../connection/host-error.ts';

/** Says why a server is not there though it is configured, without its name; undefined if it is not configured. */
export type WhyAside = (server: string) => string | undefined;

/** There is no such server: the message says why one that is configured may not be started, or else which there are. */
export function unknownServer(name: string, known: Iterable<string>, aside?: string): HostError {
  if (aside !== undefined) return new HostError('bad-config', name, aside, { hasRun: 'no' });
  const names = [...known].join(', ');
  const there = names === '' ? '' : `; there are ${names}`;
  return new HostError('unknown-server', name, `nobody named it${there}`, { hasRun: 'no' });
}
