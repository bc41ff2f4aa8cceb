import { Client } from '@modelcontextprotocol/client';
import type { ConnectContext, ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { dial } from '../../../src/mcp/transports/transports.ts';
import { testWorld } from './servers.ts';

/** The official client on one of Toolplane's transports; `errors` and `closed` record the events of the transport. */
export async function reach(
  entry: ServerEntry,
  world: ConnectContext = testWorld(),
  mode: 'legacy' | 'auto' = 'legacy',
) {
  const dialed = await dial('srv', entry, world);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const errors: Error[] = [];
  const closed = Promise.withResolvers<void>();
  client.onerror = (error) => errors.push(error);
  client.onclose = () => closed.resolve();
  try {
    await client.connect(dialed.transport);
  } catch (failure) {
    await dialed.close();
    throw failure;
  }
  return {
    client,
    dialed,
    errors,
    closed: closed.promise,
    call: (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
      client.callTool({ name, arguments: args }, { timeout: 10_000, ...(signal && { signal }) }),
    async [Symbol.asyncDispose]() {
      await dialed.close();
      await client.close();
    },
  };
}

/** The innermost cause of the error of connecting to a server that must not be reachable. */
export async function unreached(entry: ServerEntry, world?: ConnectContext): Promise<unknown> {
  try {
    await using _ = await reach(entry, world);
  } catch (failure) {
    return failure;
  }
  throw new Error('it was reached');
}
