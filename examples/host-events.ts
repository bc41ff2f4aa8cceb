// Events of a host as they happen, and answers to requests of servers.
import assert from 'node:assert/strict';
import { createHost } from 'toolplane/host';
import { serve } from './servers/start.ts';

const lines: string[] = [];

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

const reading = (async () => {
  for await (const event of host.events) {
    if (event.type === 'progress')
      lines.push(`${event.settled}/${event.total} ${event.waitingFor.join(', ')}`.trim());
    if (event.type === 'state' && event.status.state === 'failed')
      lines.push(`${event.server}: ${event.status.cause?.message}`);
  }
})();

await host.ready();
await host.close();
await reading; // the iteration ends when the host is closed
console.log(lines);
// #endregion

assert.equal(lines[0], '0/2 docs, broken');
assert.equal(lines.at(-1), '2/2');
