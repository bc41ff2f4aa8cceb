import { sliceText } from '../../base/text/display-text.ts';
import { dialled } from '../../mcp/calls/retrying-request.ts';
import { isTrustedEntry } from '../../mcp/connection/connect-context.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import type { CallTarget } from '../../mcp/servers/call-target.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import { definitionOf } from '../../pool/pinning/definition.ts';
import { judge } from '../../pool/pinning/judge.ts';
import type { PooledTool } from '../../pool/pool.ts';
import { sourceOf } from '../session/server-status.ts';
import type { SessionWorld, Worker } from './call-context.ts';
import type { PoolCall } from './pool-call.ts';

/** Of a call or a question that has outlived its server. */
export const ANOTHER_SERVER = 'it is another server now than the one this was decided on for';

/**
 * The call with its tool as the server lists it now, which is what decisions rest on, or why it cannot be made. Waits
 * for the server, except where the call is denied whatever that lists. What was resolved before stays as it is: somebody
 * may have been shown it.
 */
export async function liveCall(
  call: PoolCall,
  worker: Worker,
  world: Pick<SessionWorld, 'configured'>,
  isDenied: (call: PoolCall) => boolean,
  signal: AbortSignal,
): Promise<PoolCall | { readonly failure: unknown }> {
  const { tool } = call;
  const { origin } = tool;
  if (origin.kind !== 'mcp' || call.at) return call;
  const server = worker.servers().get(origin.server);
  const target = worker.target(origin.server);
  if (!server || !target) return { failure: goneServer(origin.server) };
  if (!target.live()) {
    if (isDenied(call)) return call;
    try {
      await dialled(target, signal);
    } catch (failure) {
      // Whoever gave up is answered as such, and nothing is sent.
      return signal.aborted ? call : { failure };
    }
  }
  const listed = target.tool(origin.tool);
  if (!listed) {
    const fault = `${notListed(origin.tool)}; nothing was sent`;
    return { failure: new HostError('unknown-tool', origin.server, fault, { hasRun: 'no' }) };
  }
  const now = listed === tool.listed ? tool : { ...tool, listed };
  return { ...call, ...saidBy(tool, server, world), tool: now, at: server };
}

/** Why the call must not be sent as things are now; undefined if all is as it was decided on. */
export function whyNotSend(call: PoolCall, target: CallTarget, worker: Worker): string | undefined {
  const { origin, listed } = call.tool;
  if (origin.kind !== 'mcp') return undefined;
  if (!call.at) return 'nobody has compared its tools with what was accepted';
  if (worker.servers().get(origin.server) !== call.at) return ANOTHER_SERVER;
  const now = target.tool(origin.tool);
  if (now === listed) return undefined;
  if (!now) return notListed(origin.tool);
  const isOther = judge({ server: origin.server, place: '' }, definitionOf(listed), now) !== undefined;
  return isOther ? `its tool "${origin.tool}" changed after this call was decided on` : undefined;
}

/** What follows from where a tool comes from. */
export function saidBy(
  { name: toolName, origin }: PooledTool,
  server: Server | undefined,
  { configured }: Pick<SessionWorld, 'configured'>,
): Pick<PoolCall, 'isTrusted' | 'provenance'> {
  if (origin.kind !== 'mcp') return { isTrusted: true };
  const { server: name, tool } = origin;
  return {
    isTrusted: server !== undefined && isTrustedEntry(server.entry),
    provenance: {
      name,
      source: sourceOf(name, server?.origin ?? 'dynamic', configured),
      ...(toolName !== `mcp__${name}__${tool}` && { tool }),
    },
  };
}

export function goneServer(server: string): HostError {
  return new HostError('unknown-server', server, 'it is gone', { hasRun: 'no' });
}

function notListed(tool: string): string {
  return `it does not list the tool "${tool}" any more`;
}

/** How long a server may take to list what it has, before somebody is asked instead. */
const PATIENCE_MS = 10_000;
const LONGEST_URI = 500;

/**
 * Why reading a URI is not known to only read; undefined if it is. A URI is an argument like any other: what a server
 * that nobody vouched for has not listed itself may carry something to it.
 */
export async function resourceDoubt(
  key: string,
  uri: string,
  { entry }: Server,
  worker: Pick<Worker, 'featuresOf'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (isTrustedEntry(entry)) return undefined;
  const listed = await worker
    .featuresOf(key)
    .listResources(key, { signal, timeoutMs: PATIENCE_MS })
    .catch(() => []);
  if (listed.some((it) => it.uri === uri)) return undefined;
  return `${sliceText(uri, LONGEST_URI)} is none of the resources that server "${key}" lists, and the server is not trusted`;
}
