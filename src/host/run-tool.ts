import { isRecord } from '../base/is-record.ts';
import type { UserBlock } from '../protocol/agent-message.ts';
import { failedOutcome, type PreparedCall, type ToolCall, type ToolOutcome } from './agent/tool-call.ts';
import type { Decision } from './permission/decide.ts';
import type { Pool, PooledTool } from './pool/assemble.ts';
import { failureToModel, toModel } from './result/to-model.ts';
import type { Servers } from './servers.ts';

/** What a person said about one call. */
export type Verdict =
  | { readonly behavior: 'allow'; readonly input: Record<string, unknown> }
  | { readonly behavior: 'deny'; readonly message: string };

export type CallRules = {
  readonly pool: Pool;
  readonly servers: Servers;
  decide(call: ToolCall, tool: PooledTool): Decision;
  ask(call: ToolCall, tool: PooledTool, signal: AbortSignal): Promise<Verdict>;
  onDenied(call: ToolCall): void;
};

/** From a model's call to something to run: which tool, whether it may, with which input. */
export async function prepareCall(
  call: ToolCall,
  rules: CallRules,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const tool = rules.pool.byName.get(call.name);
  if (!tool) return answered(`No such tool available: ${call.name}`);
  const input = isRecord(call.input) ? call.input : {};
  const { kind, reason } = rules.decide(call, tool);
  const verdict: Verdict =
    kind === 'ask'
      ? await rules.ask(call, tool, signal)
      : kind === 'allow'
        ? { behavior: 'allow', input }
        : { behavior: 'deny', message: reason.text };
  if (verdict.behavior === 'deny') {
    rules.onDenied(call);
    return answered(verdict.message);
  }
  return {
    kind: 'run',
    beside: tool.listed.annotations?.readOnlyHint === true ? 'others' : 'none',
    run: (within) => runTool(call, tool, verdict.input, rules.servers, within),
  };
}

async function runTool(
  call: ToolCall,
  { origin, name }: PooledTool,
  input: Record<string, unknown>,
  servers: Servers,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (origin.kind === 'builtin') return failedOutcome(`${name} is not available in this session`);
  const connection = servers.connection(origin.server);
  if (!connection) return failedOutcome(`Server "${origin.server}" is not connected`);
  try {
    const meta = { 'claudecode/toolUseId': call.id };
    const result = await connection.callTool(origin.tool, input, { signal, meta });
    const { content, isError } = await toModel(result, {
      name,
      server: origin.server,
      save: async () => '(not kept)',
    });
    return { content: content as string | UserBlock[], isError };
  } catch (failure) {
    const { content } = failureToModel(failure);
    return { content: content as string, isError: true };
  }
}

function answered(text: string): PreparedCall {
  return { kind: 'answered', outcome: failedOutcome(text) };
}
