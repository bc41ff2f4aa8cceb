import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CallOptions, Result, Session, Target } from '../contender.ts';

/** One connection of a library that handles a single server. */
export type Link = {
  tools(): Promise<string[]>;
  call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<Result>;
  close(): Promise<void>;
};

/**
 * What a careful programmer writes around such a library: all servers are connected concurrently, each failure is kept for
 * the calls of that server, and closing also ends pending connections.
 */
export function eachByItself(
  targets: Readonly<Record<string, Target>>,
  connect: (target: Target, signal: AbortSignal) => Promise<Link>,
): Session {
  const life = new AbortController();
  const links = new Map(
    Object.entries(targets).map(([name, target]) => [
      name,
      withHeaders(target).then((whole) => connect(whole, life.signal)),
    ]),
  );
  for (const link of links.values()) link.catch(() => {});
  const link = (server: string) => links.get(server) ?? Promise.reject(new Error(`no server "${server}"`));
  return {
    ready: async (server) => void (await link(server)),
    tools: async (server) => (await link(server)).tools(),
    call: async (server, tool, args = {}, options = {}) => (await link(server)).call(tool, args, options),
    close: async () => {
      life.abort();
      const opened = await Promise.allSettled(links.values());
      await Promise.all(opened.map((each) => each.status === 'fulfilled' && each.value.close()));
    },
  };
}

/** The headers of a helper are requested once, before connecting. */
async function withHeaders(target: Target): Promise<Target> {
  if (target.kind === 'stdio' || target.headersHelper === undefined) return target;
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', target.headersHelper]);
  return { ...target, headers: { ...target.headers, ...(JSON.parse(stdout) as Record<string, string>) } };
}
