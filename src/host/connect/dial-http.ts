import { startTimer } from '../../base/timer.ts';
import type { HttpServerEntry } from '../../protocol/server-entry.ts';
import type { Dialed } from './dial.ts';
import { HostError } from './host-error.ts';

/** How long a server may take to end our session before we leave anyway. */
const FAREWELL_MS = 1000;

/** Reaches a server by streamable HTTP, with the entry's headers on every request. */
export async function dialHttp(name: string, { url, headers }: HttpServerEntry): Promise<Dialed> {
  if (!URL.canParse(url)) throw new HostError('bad-config', name, `"${url}" is no full URL`);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const requestInit = headers === undefined ? {} : { headers };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  return {
    transport,
    async close() {
      const timer = startTimer(FAREWELL_MS, () => void transport.close());
      // A server that does not know of sessions, or is gone, is left all the same.
      await transport.terminateSession().catch(() => {});
      clearTimeout(timer);
      await transport.close().catch(() => {});
    },
    stderr: () => [],
  };
}
