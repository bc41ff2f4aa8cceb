import { MCP_VERSIONS } from '../protocol/mcp.ts';
import type { McpSession } from '../tool-server/mcp-session.ts';
import type { SdkServerEntry } from '../tool-server/sdk-server.ts';
import { ToolServer } from '../tool-server/tool-server.ts';

/** A server's handshake, made beforehand: an agent that takes it needs no round trip (C29). */
export type Manifest = { initializeResult: object; toolsListResult?: object };

/** How long a server that is not ours may take; after that the agent does the handshake itself. */
const FOREIGN_LIMIT_MS = 250;

/** Our own servers answer at once; a foreign one is asked as the agent would ask it. */
export async function makeManifest(
  entry: SdkServerEntry,
  session: McpSession,
): Promise<Manifest | undefined> {
  if (entry.instance instanceof ToolServer) {
    return {
      initializeResult: entry.instance.initializeResult(),
      toolsListResult: entry.instance.toolsList(),
    };
  }
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), FOREIGN_LIMIT_MS);
  try {
    return await Promise.race([askForeign(session), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function askForeign(session: McpSession): Promise<Manifest | undefined> {
  const initialized = await session.receive({
    jsonrpc: '2.0',
    id: 'manifest-initialize',
    method: 'initialize',
    params: {
      protocolVersion: MCP_VERSIONS[0],
      capabilities: {},
      clientInfo: { name: 'toolplane', version: '1.0.0' },
    },
  });
  if (!initialized || !('result' in initialized)) return undefined;
  await session.receive({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const initializeResult = initialized.result;
  if (!(initializeResult.capabilities as { tools?: unknown }).tools) return { initializeResult };
  const listed = await session.receive({ jsonrpc: '2.0', id: 'manifest-tools', method: 'tools/list' });
  if (!listed || !('result' in listed) || listed.result.nextCursor !== undefined) return { initializeResult };
  return { initializeResult, toolsListResult: listed.result };
}
