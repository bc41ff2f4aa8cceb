// node busy-http.mjs: a single-threaded server that answers nothing else while its tool works; sends its port by IPC.
import { createServer } from 'node:http';

setTimeout(() => process.exit(99), 60_000);
process.on('disconnect', () => process.exit(0));

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method !== 'POST') return response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  const answer = (result) => JSON.stringify({ jsonrpc: '2.0', id, result });
  if (id === undefined) return response.writeHead(202).end();
  if (method === 'tools/call')
    return work(response, params, answer({ content: [{ type: 'text', text: 'done' }] }));
  const result = RESULTS[method];
  const said = result ? answer(result) : JSON.stringify({ jsonrpc: '2.0', id, error: NO_METHOD });
  response.writeHead(200, { 'content-type': 'application/json' }).end(said);
});

const NO_METHOD = { code: -32601, message: 'no such method' };
const RESULTS = {
  ping: {},
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'busy', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'work', inputSchema: { type: 'object' } }] },
};

/** Works in steps and reports each; nothing else is read or answered meanwhile. */
async function work(response, { arguments: { steps, stepMs }, _meta }, answer) {
  const tell = (data) => response.write(`event: message\ndata: ${data}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let progress = 1; progress <= steps; progress++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stepMs);
    const params = { progressToken: _meta?.progressToken, progress };
    if (params.progressToken !== undefined)
      tell(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
    // Writes happen in this turn of the event loop, reads would happen in the next.
    await new Promise(process.nextTick);
  }
  tell(answer);
  response.end();
}

server.listen(0, '127.0.0.1', () => process.send(server.address().port));
