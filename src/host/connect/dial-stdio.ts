import { LineSplitter } from '../../base/lines.ts';
import { redactText } from '../../base/redact.ts';
import { LineRing } from '../../base/ring.ts';
import { killOnDeath } from '../../control/kill-on-death.ts';
import type { StdioServerEntry } from '../../protocol/server-entry.ts';
import type { Dialed } from './dial.ts';
import { leastEnvironment } from './least-environment.ts';
import type { ConnectWorld } from './world.ts';

/** Reaches a server by running it, with the least environment and its stderr listened to. */
export async function dialStdio(name: string, entry: StdioServerEntry, world: ConnectWorld): Promise<Dialed> {
  const { DEFAULT_INHERITED_ENV_VARS, StdioClientTransport } = await import(
    '@modelcontextprotocol/client/stdio'
  );
  // The transport adds variables of this process by itself; an undefined one is not passed on.
  const unset = Object.fromEntries(DEFAULT_INHERITED_ENV_VARS.map((key) => [key, undefined]));
  const transport = new StdioClientTransport({
    command: entry.command,
    args: entry.args ?? [],
    env: { ...unset, ...leastEnvironment(world.env, entry.env) } as Record<string, string>,
    stderr: 'pipe',
    ...(world.cwd === undefined ? {} : { cwd: world.cwd }),
  });
  const said = new LineRing(5, 500);
  const lines = new LineSplitter({
    maxLength: 100_000,
    onLine: (line) => {
      said.push(line);
      world.onStderr?.(name, line);
    },
    onTooLong: () => {},
  });
  transport.stderr?.on('data', (chunk: Buffer) => lines.write(chunk.toString()));
  let release = () => {};
  transport.stderr?.on('end', () => {
    lines.end();
    release();
  });
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start();
    // A server that does not heed the end of its input outlives no host either.
    if (transport.pid !== null) release = killOnDeath(transport.pid);
  };
  // Its second call would return before the process has ended: everyone awaits the first.
  const closeOnce = transport.close.bind(transport);
  let closing: Promise<void> | undefined;
  transport.close = () => {
    closing ??= closeOnce().finally(() => release());
    return closing;
  };
  return {
    transport,
    close: () => transport.close().catch(() => {}),
    stderr: () => said.lines.map(redactText),
  };
}
