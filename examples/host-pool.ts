// The tool pool in your own loop, with any model: valid names, token costs, search, calls by name.
import assert from 'node:assert/strict';
import { toolServer } from 'toolplane';
import { createHost } from 'toolplane/host';
import { z } from 'zod';

const mail = toolServer('mail').tool(
  'send message',
  'Sends an e-mail',
  { to: z.string() },
  ({ to }) => `sent to ${to}`,
);
const files = toolServer('files').tool('remove', 'Deletes a file from the disk', {}, () => 'gone');

// #region pool
await using host = createHost({ mcpServers: { mail, files } });
await host.ready();

const pool = await host.pool({ maxNameLength: 64 }); // OpenAI's limit; 128 by default
for (const { name, description, tokens } of pool.tools) console.log(`${name}: ${description} (${tokens})`);

const [best] = await pool.search('write to a colleague', { limit: 1 });
console.log(best?.name);
console.log(await pool.call('mcp__mail__send_message', { to: 'Ada' }));
// #endregion

assert.equal(best?.name, 'mcp__mail__send_message');
