import { McpServer as McpServerV1 } from '../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.js';
import type { RequestHandlerExtra } from '../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/shared/protocol.js';
import {
  ListRootsResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/types.js';
import { McpServer as McpServerV2 } from '../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import * as z from '../../interop/node_modules/zod/index.js';
import { type Gate, gate } from './gate.ts';

/** The capabilities of a tool handler, the same for both versions of the official SDK. */
type Call = {
  id: string | number;
  meta: Record<string, unknown>;
  signal: AbortSignal;
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
  listRoots(): Promise<{ roots: { uri: string }[] }>;
};

/** A server built with the official MCP SDK, and its internal events for the test. */
export type Foreign = {
  readonly server: McpServerV1 | McpServerV2;
  /** The gates of the tool `wait`, by name. */
  readonly doors: Record<'left' | 'right', Gate<string>>;
  /** Internal events, in order. */
  readonly log: string[];
};

export const FOREIGN_VERSIONS: [string, () => Foreign][] = [
  ['McpServer v1', makeV1],
  ['McpServer v2', makeV2],
];

const INFO = { name: 'by-hand', version: '9.9.9' };
const ADD = z.object({ a: z.number(), b: z.number() });
const WAIT = z.object({ door: z.enum(['left', 'right']) });

function makeV1(): Foreign {
  const server = new McpServerV1(INFO, { capabilities: { logging: {} } });
  const foreign = inside(server);
  const callOf = (extra: ExtraV1): Call => ({
    id: extra.requestId,
    meta: extra._meta ?? {},
    signal: extra.signal,
    notify: (notification) => extra.sendNotification(notification as never),
    listRoots: () =>
      extra.sendRequest({ method: 'roots/list' }, ListRootsResultSchema, { signal: extra.signal }),
  });
  server.registerTool('add', { description: 'Adds', inputSchema: ADD.shape }, async ({ a, b }) =>
    said(a + b),
  );
  server.registerTool('wait', { inputSchema: WAIT.shape }, ({ door }, extra) =>
    wait(foreign, door, callOf(extra)),
  );
  server.registerTool('count', {}, (extra) => count(callOf(extra)));
  server.registerTool('roots', {}, (extra) => roots(foreign, callOf(extra)));
  server.registerTool('request', {}, (extra) => request(callOf(extra)));
  server.server.oninitialized = () => foreign.log.push('initialized');
  server.server.onclose = () => foreign.log.push('closed');
  return foreign;
}

type ExtraV1 = RequestHandlerExtra<ServerRequest, ServerNotification>;

function makeV2(): Foreign {
  const server = new McpServerV2(INFO, { capabilities: { logging: {} } });
  const foreign = inside(server);
  const callOf = ({ mcpReq }: ContextV2): Call => ({
    id: mcpReq.id,
    meta: mcpReq._meta ?? {},
    signal: mcpReq.signal,
    notify: (notification) => mcpReq.notify(notification),
    listRoots: () => mcpReq.send({ method: 'roots/list' }, { signal: mcpReq.signal }),
  });
  server.registerTool('add', { description: 'Adds', inputSchema: ADD }, async ({ a, b }) => said(a + b));
  server.registerTool('wait', { inputSchema: WAIT }, ({ door }, ctx) => wait(foreign, door, callOf(ctx)));
  server.registerTool('count', {}, (ctx) => count(callOf(ctx)));
  server.registerTool('roots', {}, (ctx) => roots(foreign, callOf(ctx)));
  server.registerTool('request', {}, (ctx) => request(callOf(ctx)));
  server.server.oninitialized = () => void foreign.log.push('initialized');
  server.server.onclose = () => void foreign.log.push('closed');
  return foreign;
}

type ContextV2 = {
  mcpReq: {
    id: string | number;
    _meta?: Record<string, unknown>;
    signal: AbortSignal;
    notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
    send(
      request: { method: 'roots/list' },
      options: { signal: AbortSignal },
    ): Promise<{ roots: { uri: string }[] }>;
  };
};

function inside(server: Foreign['server']): Foreign {
  return { server, doors: { left: gate(), right: gate() }, log: [] };
}

function said(what: unknown) {
  return { content: [{ type: 'text' as const, text: String(what) }] };
}

async function wait({ doors, log }: Foreign, door: 'left' | 'right', { signal }: Call) {
  signal.addEventListener('abort', () => log.push(`${door} aborted`));
  return said(await doors[door].pass());
}

/** Reports progress twice. */
async function count({ meta, notify }: Call) {
  for (const progress of [1, 2]) {
    await notify({
      method: 'notifications/progress',
      params: { progressToken: meta.progressToken, progress },
    });
  }
  return said('counted');
}

/** Requests the roots of the calling client. */
async function roots({ log }: Foreign, { listRoots }: Call) {
  try {
    return said((await listRoots()).roots.map((root) => root.uri));
  } catch (fault) {
    log.push((fault as Error).message);
    throw fault;
  }
}

async function request({ id, meta }: Call) {
  return said(JSON.stringify({ id, meta }));
}
