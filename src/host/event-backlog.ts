import type { Backlog } from '../base/broadcast.ts';
import type { HostEvent } from './host-options.ts';

/** What servers say in floods may be missed by a slow reader; what becomes of servers may not. */
export const EVENT_BACKLOG: Backlog<HostEvent> = {
  limit: 1_000,
  isMinor: ({ type }) => type === 'stderr' || type === 'log' || type === 'warning' || type === 'tools',
  dropped: (count) => ({
    type: 'warning',
    server: '',
    message: `${count} events of what servers said were dropped, since they were not read in time`,
  }),
};
