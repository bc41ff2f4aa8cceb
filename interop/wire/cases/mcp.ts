import { z } from 'zod';
import type { Options, Sdk, WireCase } from '../case.ts';
import { FENCE, mcp, type Scenario, type Step } from '../scenario.ts';
import { withCalc } from '../servers.ts';

const CLIENT = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'recorder', version: '1.0.0' },
};

const INITIALIZE = calls('m-init', { method: 'initialize', params: CLIENT, jsonrpc: '2.0', id: 0 });
const INITIALIZED = calls('m-inited', { jsonrpc: '2.0', method: 'notifications/initialized' });

/** JSON-RPC messages for the calc server, each sent alone after the manifest handshake. */
const MESSAGES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  initialize: { method: 'initialize', params: CLIENT, jsonrpc: '2.0', id: 0 },
  'initialize 2024-11-05': {
    method: 'initialize',
    params: { ...CLIENT, protocolVersion: '2024-11-05' },
    jsonrpc: '2.0',
    id: 0,
  },
  'initialize unknown version': {
    method: 'initialize',
    params: { ...CLIENT, protocolVersion: '1999-01-01' },
    jsonrpc: '2.0',
    id: 0,
  },
  'initialize without params': { method: 'initialize', jsonrpc: '2.0', id: 0 },
  'notifications/initialized': { jsonrpc: '2.0', method: 'notifications/initialized' },
  'unknown notification': { jsonrpc: '2.0', method: 'notifications/whatever', params: { a: 1 } },
  ping: { method: 'ping', jsonrpc: '2.0', id: 7 },
  'tools/list': { method: 'tools/list', jsonrpc: '2.0', id: 1 },
  'tools/list with a cursor': { method: 'tools/list', params: { cursor: 'x' }, jsonrpc: '2.0', id: 1 },
  'tools/call': toolCall('add', { a: 2, b: 40 }),
  'tools/call text id': { ...toolCall('add', { a: 2, b: 40 }), id: 'text-id' },
  'tools/call with progress token': {
    ...toolCall('add', { a: 2, b: 40 }),
    params: {
      name: 'add',
      arguments: { a: 2, b: 40 },
      _meta: { 'claudecode/toolUseId': 'toolu_1', progressToken: 2 },
    },
  },
  'tools/call extra argument': toolCall('add', { a: 2, b: 40, c: 1 }),
  'tools/call wrong type': toolCall('add', { a: 'two', b: 40 }),
  'tools/call two wrong': toolCall('add', { a: 'two' }),
  'tools/call no arguments': { method: 'tools/call', params: { name: 'add' }, jsonrpc: '2.0', id: 2 },
  'tools/call handler throws': toolCall('boom', {}),
  'tools/call empty tool without arguments': {
    method: 'tools/call',
    params: { name: 'boom' },
    jsonrpc: '2.0',
    id: 2,
  },
  'tools/call unknown tool': toolCall('nope', {}),
  'tools/call without name': { method: 'tools/call', params: {}, jsonrpc: '2.0', id: 2 },
  'resources/list': { method: 'resources/list', jsonrpc: '2.0', id: 3 },
  'prompts/list': { method: 'prompts/list', jsonrpc: '2.0', id: 3 },
  'logging/setLevel': { method: 'logging/setLevel', params: { level: 'info' }, jsonrpc: '2.0', id: 3 },
  'unknown method': { method: 'no/such', jsonrpc: '2.0', id: 4 },
  'server/discover': { method: 'server/discover', params: {}, jsonrpc: '2.0', id: 'server-discover-probe-1' },
};

const RESULTS: Readonly<Record<string, (extra: unknown) => unknown>> = {
  isError: () => ({ isError: true, content: [{ type: 'text', text: 'bad' }] }),
  'structuredContent and _meta': () => ({
    _meta: { m: 1 },
    structuredContent: { s: 1 },
    content: [{ type: 'text', text: 'x' }],
  }),
  image: () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }),
  'resource link': () => ({ content: [{ type: 'resource_link', uri: 'file:///x', name: 'x' }] }),
  'extra members': () => ({ content: [], other: 1 }),
  'no content': () => ({}),
  undefined: () => undefined,
  'a text': () => 'text',
  'unknown block': () => ({ content: [{ type: 'hologram' }] }),
  'throws a text': () => {
    throw 'just text';
  },
  'keys of extra': (extra) => ({
    content: [{ type: 'text', text: Object.keys(extra as object).join() }],
  }),
  'meta of extra': (extra) => {
    const { _meta, requestId, sessionId } = extra as Record<string, unknown>;
    return { content: [{ type: 'text', text: JSON.stringify({ _meta, requestId, sessionId }) }] };
  },
};

/** MCP over the control channel: what an SDK-hosted server answers. */
export const MCP_CASES: readonly WireCase[] = [
  ...Object.entries(MESSAGES).map(([name, message]) => ({
    name: `mcp: ${name}`,
    options: withCalc,
    scenario: { beforeResult: [calls('m-1', message), FENCE] },
  })),
  ...Object.entries(RESULTS).map(([name, result]) => ({
    name: `mcp result: ${name}`,
    options: (sdk: Sdk) => answering(sdk, result),
    scenario: { beforeResult: [calls('m-1', toolCall('t', {})), FENCE] },
  })),
  {
    name: 'mcp: full handshake before the initialize reply, manifests off',
    options: withCalc,
    ambient: { CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS: '1' },
    scenario: {
      beforeReply: {
        initialize: [
          INITIALIZE,
          INITIALIZED,
          calls('m-list', { method: 'tools/list', jsonrpc: '2.0', id: 1 }),
        ],
      },
      beforeResult: [{ until: 'request:initialize' }, calls('m-call', toolCall('add', { a: 1, b: 1 }))],
    },
  },
  {
    name: 'mcp: call without any handshake, manifests off',
    options: withCalc,
    ambient: { CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS: '1' },
    scenario: { beforeResult: [calls('m-1', toolCall('add', { a: 1, b: 1 }))] },
  },
  {
    name: 'mcp: unknown server',
    options: withCalc,
    scenario: { beforeResult: [mcp('m-1', 'ghost', toolCall('add', {}))] },
  },
  {
    name: 'mcp: notification to an unknown server',
    scenario: {
      beforeResult: [mcp('m-1', 'ghost', { jsonrpc: '2.0', method: 'notifications/initialized' })],
    },
  },
  { name: 'mcp: cancelled call', options: withCalc, scenario: cancelledCall() },
  {
    name: 'mcp: call cancelled by control_cancel_request',
    options: withCalc,
    scenario: {
      beforeResult: [
        { ...calls('m-1', toolCall('forever', {})), unawaited: true },
        calls('m-2', { method: 'ping', jsonrpc: '2.0', id: 3 }),
        { frame: { type: 'control_cancel_request', request_id: 'm-1' } },
        FENCE,
      ],
    },
  },
  {
    name: 'mcp: a response nobody asked for',
    options: withCalc,
    scenario: {
      beforeResult: [{ ...calls('m-1', { jsonrpc: '2.0', id: 5, result: {} }), unawaited: true }, FENCE],
    },
  },
  {
    name: 'mcp: tools/list of a server without tools',
    options: (sdk) => ({ mcpServers: { calc: sdk.createSdkMcpServer({ name: 'none' }) } }),
    scenario: { beforeResult: [INITIALIZE, calls('m-1', { method: 'tools/list', jsonrpc: '2.0', id: 1 })] },
  },
  {
    name: 'mcp: tools/list of a server with an empty list',
    options: (sdk) => ({ mcpServers: { calc: sdk.createSdkMcpServer({ name: 'none', tools: [] }) } }),
    scenario: { beforeResult: [INITIALIZE, calls('m-1', { method: 'tools/list', jsonrpc: '2.0', id: 1 })] },
  },
  {
    name: 'mcp: a tool that reports progress',
    options: (sdk) => answering(sdk, reportProgress),
    scenario: {
      beforeResult: [
        calls('m-1', {
          ...toolCall('t', {}),
          params: { name: 't', arguments: {}, _meta: { progressToken: 2 } },
        }),
        FENCE,
      ],
    },
  },
];

function answering(sdk: Sdk, result: (extra: unknown) => unknown): Options {
  const handler = async (_args: unknown, extra: unknown) => (await result(extra)) as { content: [] };
  const tools = [sdk.tool('t', 'T', { opt: z.string().optional() }, handler)];
  return { mcpServers: { calc: sdk.createSdkMcpServer({ name: 'calc', tools }) } };
}

async function reportProgress(extra: unknown): Promise<unknown> {
  const { sendNotification } = extra as { sendNotification: (message: unknown) => Promise<void> };
  await sendNotification({
    method: 'notifications/progress',
    params: { progressToken: 2, progress: 1, total: 2 },
  });
  return { content: [{ type: 'text', text: 'done' }] };
}

function calls(id: string, message: Readonly<Record<string, unknown>>): Step {
  return mcp(id, 'calc', message);
}

function toolCall(name: string, args: unknown): Record<string, unknown> {
  return { method: 'tools/call', params: { name, arguments: args }, jsonrpc: '2.0', id: 2 };
}

function cancelledCall(): Scenario {
  const params = { requestId: 2, reason: 'AbortError: remote-cancel' };
  return {
    beforeResult: [
      { ...calls('m-1', toolCall('forever', {})), unawaited: true },
      calls('m-2', { method: 'ping', jsonrpc: '2.0', id: 3 }),
      calls('m-3', { jsonrpc: '2.0', method: 'notifications/cancelled', params }),
      FENCE,
    ],
  };
}
