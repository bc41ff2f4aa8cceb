import { startTimer } from '../base/async/timers.ts';
import { isNestedDeeper, MAX_NESTING } from '../base/json-value.ts';
import type { CallToolResult } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import type { CallContext, ToolContext } from './context.ts';
import { failedResult, wrapResult } from './result.ts';
import type { CompiledTool } from './tool.ts';

/**
 * Validates the arguments, runs the handler, wraps its return value and calls `settle` exactly once; any failure is an
 * error result. Takes a callback, since a promise would cost each call one more microtask.
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
      // Cancelled during validation: the handler need not start.
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
    ctx.failure = thrown;
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

/** Aborts the handler's signal at the time limit and ends the call, even if the handler ignores the signal. */
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
