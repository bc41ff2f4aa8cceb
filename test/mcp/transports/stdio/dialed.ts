import { readFileSync } from 'node:fs';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { ConnectContext } from '../../../../src/mcp/connection/connect-context.ts';
import { dialStdio } from '../../../../src/mcp/transports/stdio/dial-stdio.ts';
import type { StdioServerEntry } from '../../../../src/protocol/server-entry.ts';
import { testWorld } from '../../support/servers.ts';

/** A running server without a client: its messages and its other output are recorded in lists. */
export async function startDialed(entry: StdioServerEntry, more: Partial<ConnectContext> = {}) {
  const stderr: string[] = [];
  const noise: string[] = [];
  const messages: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  const heard = new EventTarget();
  const dialed = await dialStdio(
    'srv',
    entry,
    testWorld({
      onStderr: (_name, line) => {
        stderr.push(line);
        heard.dispatchEvent(new Event('heard'));
      },
      onUnexpectedOutput: (_name, what) => {
        noise.push(what);
        heard.dispatchEvent(new Event('heard'));
      },
      ...more,
    }),
  );
  onTestFinished(() => dialed.close());
  const { transport } = dialed;
  const closed = Promise.withResolvers<void>();
  let closes = 0;
  transport.onmessage = (message) => {
    messages.push(message);
    heard.dispatchEvent(new Event('heard'));
  };
  transport.onerror = (error) => errors.push(error);
  transport.onclose = () => {
    closes++;
    closed.resolve();
  };
  await transport.start();
  return {
    dialed,
    transport: transport as typeof transport & { pid: number | null; stderr: unknown },
    stderr,
    noise,
    messages,
    errors,
    closed: closed.promise,
    closes: () => closes,
    /** Resolves once the condition holds for the recorded output. */
    async until(isSo: () => boolean): Promise<void> {
      while (!isSo())
        await new Promise((resolve) => heard.addEventListener('heard', resolve, { once: true }));
    },
  };
}

/** Whether a process runs; a zombie does not count. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}
