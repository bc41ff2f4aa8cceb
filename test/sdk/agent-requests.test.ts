import { expect, test } from 'vitest';
import type { Frame } from '../../src/protocol/control-frame.ts';
import { replaceReply, type Servants, serveAgent } from '../../src/sdk/agent-requests.ts';
import { Bridge } from '../../src/sdk/bridge.ts';
import { registerHooks } from '../../src/sdk/hooks.ts';
import { splitServers } from '../../src/sdk/mcp-servers.ts';
import type { Options } from '../../src/sdk/options.ts';
import { createSdkMcpServer } from '../../src/tool-server/sdk-server.ts';
import { answerOf } from '../support/served.ts';

const served = { id: 'ask-1', signal: new AbortController().signal, reply() {} };
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

function servants(options: Options = {}): Servants {
  const { sdk } = splitServers({ calc: createSdkMcpServer({ name: 'calc' }) });
  const bridge = new Bridge(sdk, {
    assigns: {},
    send() {},
  });
  return { bridge, hooks: registerHooks(options.hooks), options };
}

test.each<[string, object, Options, object]>([
  [
    'mcp_message',
    { server_name: 'calc', message: ping },
    {},
    { mcp_response: { result: {}, jsonrpc: '2.0', id: 1 } },
  ],
  [
    'sdk_mcp_request',
    { serverName: 'calc', message: ping },
    {},
    { mcp_response: { result: {}, jsonrpc: '2.0', id: 1 } },
  ],
  [
    'can_use_tool',
    { tool_use_id: 't' },
    { canUseTool: async () => ({ behavior: 'allow' }) },
    { behavior: 'allow', toolUseID: 't' },
  ],
  [
    'hook_callback',
    { callback_id: 'hook_0' },
    { hooks: { Stop: [{ hooks: [async () => ({ reason: 'r' })] }] } },
    { reason: 'r' },
  ],
  ['elicitation', {}, {}, { action: 'decline' }],
  ['request_user_dialog', {}, {}, { behavior: 'cancelled' }],
])('%s is served (R43, R46, C4)', async (subtype, body, options, reply) => {
  const answer = answerOf((it) => serveAgent(servants(options), subtype, body as Frame, it));
  expect(await answer).toEqual(reply);
});

test.each(['frobnicate', 'initialize', 'toString', '__proto__'])(
  '%s is refused by name (R43, C34)',
  (subtype) => {
    expect(() => serveAgent(servants(), subtype, {}, served)).toThrow(
      expect.objectContaining({
        code: 'control-failed',
        errorCode: 'unsupported_request',
        message: `Unsupported control request subtype: ${subtype}`,
      }),
    );
  },
);

test.each(['mcp_message', 'sdk_mcp_request'])(
  'a result of %s that is no JSON becomes a failed result',
  (subtype) => {
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call' };
    expect(replaceReply(servants(), subtype, { message }, new Error('a cycle'))).toEqual({
      mcp_response: {
        result: {
          content: [{ type: 'text', text: "The tool's result cannot be sent: a cycle" }],
          isError: true,
        },
        jsonrpc: '2.0',
        id: 7,
      },
    });
  },
);

test('any other reply that is no JSON has no substitute', () => {
  expect(replaceReply(servants(), 'hook_callback', {}, new Error('a cycle'))).toBeUndefined();
  expect(replaceReply(servants(), 'mcp_message', { message: {} }, new Error('a cycle'))).toBeUndefined();
});
