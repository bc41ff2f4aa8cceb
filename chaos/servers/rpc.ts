import { isRecord } from '../../src/base/json-value.ts';

export type Rpc = { id?: string | number; method?: string; params?: Record<string, unknown> };

/** A tool of a network server; it returns the text of its result. */
export type Tool = (args: Record<string, unknown>) => string | Promise<string>;

/** The response of a correct server; undefined if none is needed. */
export async function reply(message: Rpc, tools: ReadonlyMap<string, Tool>): Promise<object | undefined> {
  const { id, method, params = {} } = message;
  if (id === undefined || method === undefined) return undefined;
  const result = await answer(method, params, tools);
  const error = { code: -32601, message: `no method ${method}` };
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error }) };
}

async function answer(
  method: string,
  params: Record<string, unknown>,
  tools: ReadonlyMap<string, Tool>,
): Promise<object | undefined> {
  if (method === 'ping') return {};
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'chaos', version: '1.0.0' },
    };
  }
  if (method === 'tools/list') {
    return { tools: [...tools.keys()].map((name) => ({ name, inputSchema: { type: 'object' } })) };
  }
  if (method !== 'tools/call') return undefined;
  const run = tools.get(String(params.name));
  const args = isRecord(params.arguments) ? params.arguments : {};
  const text = run ? await run(args) : `no tool ${params.name}`;
  return { content: [{ type: 'text', text }], ...(!run && { isError: true }) };
}

/** The tool that every server has. */
export const ECHO: readonly [string, Tool] = ['echo', ({ text }) => String(text)];
