import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Contender, Limits, Result, Target } from '../contender.ts';
import { eachByItself, type Link } from './each-by-itself.ts';

/** The official client alone, with both protocol eras and captured stderr. */
export const sdk: Contender = {
  open: (targets, limits) => eachByItself(targets, (target, signal) => connect(target, limits, signal)),
};

async function connect(target: Target, { connectMs }: Limits, signal: AbortSignal): Promise<Link> {
  // On stdio no response to the probe means a legacy server, on the network a dead one.
  const probeMs = target.kind === 'stdio' ? Math.min(2_000, connectMs) : connectMs;
  const client = new Client(
    { name: 'chaos', version: '1.0.0' },
    { versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } } },
  );
  const transport = dial(target);
  signal.addEventListener('abort', () => void transport.close().catch(() => {}));
  let lastWords = '';
  if (transport instanceof StdioClientTransport) {
    transport.stderr?.on('data', (chunk) => {
      lastWords = `${lastWords}${chunk}`.slice(-500);
    });
  }
  try {
    await client.connect(transport, { timeout: connectMs, signal });
    await client.listTools(undefined, { timeout: connectMs, signal });
  } catch (cause) {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    throw new Error(`${cause instanceof Error ? cause.message : cause} ${lastWords}`, { cause });
  }
  return {
    tools: async () =>
      (await client.listTools(undefined, { timeout: connectMs })).tools.map(({ name }) => name),
    call: async (name, args, { signal, timeoutMs, onProgress }) =>
      (await client.callTool(
        { name, arguments: args },
        {
          ...(signal && { signal }),
          ...(timeoutMs !== undefined && { timeout: timeoutMs }),
          ...(onProgress && { onprogress: onProgress, resetTimeoutOnProgress: true }),
        },
      )) as Result,
    close: () => client.close(),
  };
}

function dial(target: Target) {
  if (target.kind === 'stdio') {
    const { command, args, env } = target;
    return new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: 'pipe' });
  }
  const options = { requestInit: { headers: { ...target.headers } } };
  if (target.kind === 'http') return new StreamableHTTPClientTransport(new URL(target.url), options);
  if (target.kind === 'sse') return new SSEClientTransport(new URL(target.url), options);
  throw new Error('no WebSocket transport');
}
