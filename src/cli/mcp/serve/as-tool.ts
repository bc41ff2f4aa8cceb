import type { BuiltIn, BuiltInWorld } from '../../../agent/builtins/built-in.ts';
import type { ToolOutcome } from '../../../agent/loop/run-calls.ts';
import type { CallToolResult, ContentBlock, ToolAnnotations } from '../../../protocol/mcp.ts';
import type { ToolContext } from '../../../tool-server/context.ts';
import { type AnyTool, tool } from '../../../tool-server/tool.ts';
import { keptIn } from './kept-in.ts';

/** A built-in tool in the form that MCP clients call. */
export function asTool(builtIn: BuiltIn, world: BuiltInWorld): AnyTool {
  const { name, description = '', inputSchema } = builtIn.listed;
  const handler = async (args: Record<string, unknown>, { signal }: ToolContext): Promise<CallToolResult> => {
    const kept = await keptIn(builtIn, args, world.workspace);
    const outcome =
      'fault' in kept ? { content: kept.fault, isError: true } : await builtIn.run(kept.input, world, signal);
    return asResult(outcome);
  };
  return tool(name, description, { ...inputSchema, type: 'object' }, handler, {
    annotations: annotationsOf(builtIn),
  });
}

/** All hints are stated: what is left out means the worst to a client. */
function annotationsOf({ listed: { annotations = {} } }: BuiltIn): ToolAnnotations {
  const isReading = annotations.readOnlyHint === true;
  return { destructiveHint: !isReading, idempotentHint: isReading, openWorldHint: false, ...annotations };
}

function asResult({ content, isError }: ToolOutcome): CallToolResult {
  const blocks =
    typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content.map(asBlock);
  return { content: blocks, ...(isError && { isError }) };
}

function asBlock(block: Exclude<ToolOutcome['content'], string>[number]): ContentBlock {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'image') {
    const { data, media_type } = block.source;
    if (typeof data === 'string' && typeof media_type === 'string') {
      return { type: 'image', data, mimeType: media_type };
    }
  }
  return { type: 'text', text: JSON.stringify(block) };
}
