// Events of a host as they happen, and answers to requests of servers.
import assert from 'node:assert/strict';
import { createHost } from 'toolplane/host';
import { serve } from './servers/start.ts';

const drawn: string[] = [];

// #region events
const host = createHost({
  mcpServers: { docs: serve('docs.ts'), broken: { command: 'no-such-command' } },
  handlers: {
    roots: [{ uri: 'file:///srv/project' }],
    elicitation: async ({ message }, { server }) => {
      console.log(`${server} asks: ${message}`);
      return { action: 'decline' };
    },
  },
});

const drawing = (async () => {
  for await (const event of host.events) {
    if (event.type === 'progress')
      drawn.push(`${event.settled}/${event.total} ${event.waitingFor.join(', ')}`.trim());
    if (event.type === 'state' && event.status.state === 'failed')
      drawn.push(`${event.server}: ${event.status.cause?.message}`);
  }
})();

await host.ready();
await host.close();
await drawing; // the iteration ends when the host is closed
console.log(drawn);
// #endregion

assert.equal(drawn[0], '0/2 docs, broken');
assert.equal(drawn.at(-1), '2/2');
