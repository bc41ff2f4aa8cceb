import { HostError } from '../../connect/host-error.ts';

/** Nobody named such a server; the message says which there are. */
export function unknownServer(name: string, known: Iterable<string>): HostError {
  const names = [...known].join(', ');
  const there = names === '' ? '' : `; there are ${names}`;
  return new HostError('unknown-server', name, `nobody named it${there}`, { hasRun: 'no' });
}
