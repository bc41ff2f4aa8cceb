import { realServers } from './real-tools.ts';

const TOOLS = 1_000;

/**
 * The responses of a server with many real tools on one page. The list expires immediately and its first tool changes
 * every time, so that clients cannot use a cached list.
 */
export function longList(): (message: { id?: number | string; method?: string }) => string | undefined {
  // Names and schemas that every client accepts.
  const all = realServers().flatMap(([server, tools]) =>
    tools.map((tool) => ({ ...tool, name: `${server}_${tool.name}` })),
  );
  const [first, ...others] = all.filter(({ inputSchema }) => inputSchema.type === 'object').slice(0, TOOLS);
  const rest = JSON.stringify(others).slice(1);
  let times = 0;
  return ({ id, method }) => {
    if (id === undefined) return undefined;
    const answer = (member: string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${member}}`;
    if (method === 'tools/list') {
      const changed = JSON.stringify({ ...first, description: `list ${++times}` });
      return answer(`"result":{"ttlMs":0,"tools":[${changed},${rest}}`);
    }
    if (method === 'ping') return answer('"result":{}');
    if (method !== 'initialize') return answer('"error":{"code":-32601,"message":"Method not found"}');
    return answer(`"result":${JSON.stringify(INTRODUCTION)}`);
  };
}

const INTRODUCTION = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'long', version: '1.0.0' },
};
