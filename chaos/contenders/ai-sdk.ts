import type { Contender, Limits, Result, Target } from '../contender.ts';
import { eachByItself, type Link } from './each-by-itself.ts';

/** `@ai-sdk/mcp` with its own transports. */
export const aiSdk: Contender = {
  open: (targets, limits) => eachByItself(targets, (target, signal) => connect(target, limits, signal)),
};

/** The part of the library that is used; it is installed in `interop/`, not among our dependencies. */
type Library = {
  createMCPClient(config: {
    transport: unknown;
    initializationOptions: RequestOptions;
    onUncaughtError: (cause: unknown) => void;
  }): Promise<{
    tools(): Promise<Record<string, unknown>>;
    listTools(list: {
      params: { cursor?: string };
      options: RequestOptions;
    }): Promise<{ tools: { name: string }[]; nextCursor?: string }>;
    callTool(call: {
      name: string;
      arguments: Record<string, unknown>;
      options: RequestOptions;
    }): Promise<Result>;
    close(): Promise<void>;
  }>;
};
type RequestOptions = { signal?: AbortSignal; timeout?: number };
type StdioLibrary = { StdioMCPTransport: new (config: unknown) => unknown };

const PEERS = new URL('../../interop/node_modules/', import.meta.url);
const PACKAGE = new URL('@ai-sdk/mcp/dist/', PEERS);

async function connect(target: Target, { connectMs }: Limits, signal: AbortSignal): Promise<Link> {
  const { createMCPClient } = (await import(new URL('index.js', PACKAGE).href)) as Library;
  const client = await createMCPClient({
    transport: await dial(target),
    initializationOptions: { timeout: connectMs, signal },
    onUncaughtError: () => {},
  });
  try {
    await client.tools();
  } catch (cause) {
    await client.close();
    throw cause;
  }
  return {
    // Like `tools()` of the library, which has no limit.
    async tools() {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const params = cursor === undefined ? {} : { cursor };
        const page = await client.listTools({ params, options: { timeout: connectMs } });
        names.push(...page.tools.map(({ name }) => name));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return names;
    },
    call: (name, args, { signal, timeoutMs }) =>
      client.callTool({
        name,
        arguments: args,
        options: { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeout: timeoutMs }) },
      }),
    close: () => client.close(),
  };
}

async function dial(target: Target): Promise<unknown> {
  if (target.kind === 'ws') throw new Error('no WebSocket transport');
  if (target.kind !== 'stdio') return { type: target.kind, url: target.url, headers: { ...target.headers } };
  const { StdioMCPTransport } = (await import(new URL('mcp-stdio/index.js', PACKAGE).href)) as StdioLibrary;
  const { command, args, env } = target;
  return new StdioMCPTransport({ command, args: [...args], env: { ...env } });
}
