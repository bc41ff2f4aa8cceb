import { isNestedDeeper, MAX_NESTING } from '../base/nesting.ts';
import { startTimer } from '../base/timer.ts';
import type { CallToolResult } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import type { CallContext, ToolContext } from './context.ts';
import { failedResult, wrapResult } from './result.ts';
import type { CompiledTool } from './tool.ts';

/**
 * Checks the arguments, runs the handler, wraps what it gave and settles the call with it, once: whatever fails is a
 * failed result. A callback, since a promise of the result would cost every call one more trip through the queue.
 */
export async function runTool(
  tool: CompiledTool,
  args: unknown,
  ctx: CallContext,
  settle: (result: CallToolResult) => void,
): Promise<void> {
  const { name, handler, timeoutMs } = tool.definition;
  let result: CallToolResult;
  try {
    const pending = tool.input.check(args);
    const checked = pending instanceof Promise ? await pending : pending;
    if (checked.ok) {
      // Taken back while the arguments were checked: what has not begun need not.
      if (ctx.isAborted) throw ctx.signal.reason;
      const returned = (handler as Handler)(checked.value, ctx);
      const value = timeoutMs === undefined ? await returned : await within(timeoutMs, returned, name, ctx);
      result = wrapResult(value, { structured: tool.output !== undefined });
      if (isNestedDeeper(result)) result = failedResult(TOO_DEEP);
      if (tool.output && !result.isError) result = await checkOutput(tool, result);
    } else {
      result = failedResult(
        `MCP error -32602: Input validation error: Invalid arguments for tool ${name}: ${checked.message}`,
      );
    }
  } catch (thrown) {
    result = failedResult(thrown === undefined ? `Tool '${name}' threw undefined` : messageOf(thrown));
  }
  ctx.finish();
  settle(result);
}

const TOO_DEEP = `The tool's result cannot be sent: it is nested more than ${MAX_NESTING} levels deep, or contains itself. Return flatter data.`;

type Handler = (args: unknown, ctx: ToolContext) => unknown;

async function checkOutput(tool: CompiledTool, result: CallToolResult): Promise<CallToolResult> {
  const checked = await tool.output?.check(result.structuredContent);
  if (!checked || checked.ok) return result;
  return failedResult(
    `MCP error -32602: Output validation error: Invalid structured content for tool ${tool.definition.name}: ${checked.message}`,
  );
}

/** The handler is told by its signal; whether it listens or not, the call ends now. */
async function within(ms: number, returned: unknown, name: string, ctx: CallContext): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = startTimer(ms, () => {
    const reason = new Error(`Tool '${name}' did not finish within ${ms} ms`);
    ctx.abort(reason);
    late.reject(reason);
  });
  try {
    return await Promise.race([returned, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
