// A channel on stdio whose tool pushes as many messages as the arguments say, as fast as its client reads. The call ends
// when all are acknowledged.
import { createInterface } from 'node:readline';

const [count, bytes] = process.argv.slice(2).map(Number);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let sent = 0;
let acknowledged = 0;
let call;

function push() {
  while (sent < count) {
    sent++;
    const params = { content: 'x'.repeat(bytes), meta: { id: `m${sent}` } };
    if (!send({ method: 'notifications/claude/channel', params })) {
      process.stdout.once('drain', push);
      return;
    }
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const capabilities = { tools: {}, experimental: { 'claude/channel': {} } };
    const serverInfo = { name: 'push', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  } else if (method === 'tools/list')
    send({ id, result: { tools: [{ name: 'go', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') {
    call = id;
    push();
  } else if (method === 'notifications/toolplane/channel/ack') {
    if (++acknowledged === count) send({ id: call, result: { content: [] } });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown' } });
});
