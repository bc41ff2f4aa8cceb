import type { CallToolResult } from '../../protocol/mcp.ts';
import { HostError } from '../connection/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';
import { callTool, type ToolCall } from './call-tool.ts';
import type { Journal } from './journal.ts';
import { type LimitSources, timeLimits } from './time-limits.ts';

/** A call whose limits are still to be found. */
export type ServerCall = Omit<ToolCall, 'limits'> & { readonly timeoutMs?: number | undefined };

/** Calls a tool within the limits that its call, its server's entry and the host set; one that the entry leaves out is not called. */
export async function callServer(
  target: CallTarget,
  { timeoutMs, ...call }: ServerCall,
  journal: Journal,
  host: LimitSources['host'] = {},
): Promise<Partial<CallToolResult>> {
  if (!target.isChosen(call.tool)) {
    const fault = `its entry leaves out the tool ${JSON.stringify(call.tool)}; change "includeTools" or "excludeTools" to use it`;
    throw new HostError('excluded', call.server, fault, { hasRun: 'no' });
  }
  const limits = timeLimits(call.tool, {
    call: { timeoutMs, hearsProgress: call.onProgress !== undefined },
    entry: target.entry,
    host,
  });
  return callTool(target, { ...call, limits }, journal);
}
