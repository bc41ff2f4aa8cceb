// A stand-in for an agent CLI in plain JavaScript: it implements the stdio control protocol and plays one fixed turn.
// Instead of asking a model, it calls the first tool with the arguments in STAND_IN_ARGUMENTS.
import { createInterface } from 'node:readline';

const pending = new Map();
let initialize;
let requests = 0;

const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`);

/** Sends one JSON-RPC message to a server of the program and returns the response. */
function mcp(server, method, params) {
  const isRequest = !method.startsWith('notifications/');
  const message = { jsonrpc: '2.0', ...(isRequest && { id: requests }), method, ...(params && { params }) };
  const request_id = `stand-in-${requests++}`;
  const request = { subtype: 'mcp_message', server_name: server, message };
  send({ type: 'control_request', request_id, request });
  return new Promise((resolve) =>
    pending.set(request_id, (response) => resolve(response.mcp_response.result)),
  );
}

/** Lists the program's tools: the MCP handshake with every server named in `initialize`. */
async function discover() {
  const found = [];
  for (const server of initialize.sdkMcpServers ?? []) {
    const clientInfo = { name: 'stand-in', version: '1.0.0' };
    await mcp(server, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    await mcp(server, 'notifications/initialized');
    const { tools } = await mcp(server, 'tools/list');
    found.push(...tools.map((tool) => ({ server, tool, name: `mcp__${server}__${tool.name}` })));
  }
  return found;
}

async function playTurn() {
  const found = await discover();
  const session = { session_id: 'stand-in', uuid: 'stand-in', parent_tool_use_id: null };
  const say = (type, role, content) => send({ type, message: { role, content }, ...session });
  send({ type: 'system', subtype: 'init', tools: found.map(({ name }) => name), ...session });

  const [{ server, tool, name }] = found;
  const input = JSON.parse(process.env.STAND_IN_ARGUMENTS ?? '{}');
  say('assistant', 'assistant', [{ type: 'tool_use', id: 'toolu_1', name, input }]);
  const _meta = { 'claudecode/toolUseId': 'toolu_1' };
  const result = await mcp(server, 'tools/call', { name: tool.name, arguments: input, _meta });
  const { content, isError = false } = result;
  say('user', 'user', [{ type: 'tool_result', tool_use_id: 'toolu_1', content, is_error: isError }]);

  const answer = `The tool says: ${content.map((block) => block.text).join('')}`;
  say('assistant', 'assistant', [{ type: 'text', text: answer }]);
  send({ type: 'result', subtype: 'success', is_error: isError, result: answer, num_turns: 1, ...session });
}

/** Frames from the program: requests, responses, and user messages. */
const ON = {
  control_request({ request_id, request }) {
    if (request.subtype === 'initialize') initialize = request;
    const response = { commands: [], agents: [], models: [], account: {} };
    send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  },
  control_response({ response }) {
    pending.get(response.request_id)?.(response.response);
  },
  user: playTurn,
};

for await (const line of createInterface({ input: process.stdin })) {
  const frame = JSON.parse(line);
  ON[frame.type]?.(frame);
}
