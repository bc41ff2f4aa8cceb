import { isRecord } from '../base/is-record.ts';
import type { ControlChannel } from '../control/channel.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import type { ToolCall } from './agent/tool-call.ts';
import type { PooledTool } from './pool/assemble.ts';
import type { Verdict } from './run-tool.ts';

/** Asks the program about one call, through `can_use_tool`. Whatever is no clear yes is a no. */
export async function askProgram(
  channel: ControlChannel,
  call: ToolCall,
  { origin }: PooledTool,
  { isOwn, signal }: { isOwn: boolean; signal: AbortSignal },
): Promise<Verdict> {
  const input = isRecord(call.input) ? call.input : {};
  const server = origin.kind === 'mcp' && {
    mcp_server: { name: origin.server, source: isOwn ? 'sdk' : 'dynamic' },
  };
  const body = { subtype: 'can_use_tool', tool_name: call.name, ...server, input, tool_use_id: call.id };
  try {
    const { response } = await channel.request(body, { signal });
    if (response.behavior === 'allow') {
      return { behavior: 'allow', input: isRecord(response.updatedInput) ? response.updatedInput : input };
    }
    return { behavior: 'deny', message: typeof response.message === 'string' ? response.message : 'Denied' };
  } catch (cause) {
    return { behavior: 'deny', message: `Tool permission request failed: ${messageOf(cause)}` };
  }
}
