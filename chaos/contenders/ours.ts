import { createHost, type HostServerEntry } from 'toolplane/host';
import type { Contender, Result, Target } from '../contender.ts';

/** Toolplane's host with default options, apart from shorter time limits. */
export const ours: Contender = {
  open(targets, { connectMs }) {
    const host = createHost({
      mcpServers: Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, entry(target)])),
      connectTimeoutMs: connectMs,
      heartbeatMs: 500,
      retry: { firstMs: 200, ceilingMs: 2_000 },
    });
    return {
      async ready(server) {
        await host.ready({ servers: [server] });
        const status = host.status()[server];
        if (status?.state !== 'connected') throw new Error(status?.cause?.message ?? String(status?.state));
      },
      async tools(server) {
        const tools = await host.listTools();
        return tools.flatMap((tool) => (tool.server === server ? [tool.name] : []));
      },
      call: async (server, tool, args, options) =>
        (await host.callTool(server, tool, args, options)) as Result,
      status: () => host.status(),
      close: () => host.close(),
    };
  },
};

function entry(target: Target): HostServerEntry {
  if (target.kind === 'stdio') {
    const { command, args, env, isTrusted } = target;
    return { command, args: [...args], env: { ...env }, ...(isTrusted && { trust: true }) };
  }
  const { kind, url, headers, headersHelper } = target;
  return {
    type: kind,
    url,
    ...(headers && { headers: { ...headers } }),
    ...(headersHelper !== undefined && { headersHelper }),
  };
}
