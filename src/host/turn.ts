import { isRecord } from '../base/is-record.ts';
import type { ControlChannel } from '../control/channel.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { type LoopEvent, loop } from './agent/loop.ts';
import type { ToolCall } from './agent/tool-call.ts';
import { askProgram } from './ask-program.ts';
import type { TurnFacts } from './messages.ts';
import type { Model, ModelMessage } from './model/model.ts';
import { type Decision, decide } from './permission/decide.ts';
import type { Workspace } from './permission/path.ts';
import type { Rule } from './permission/rule.ts';
import { assemble, type Pool, type PooledTool } from './pool/assemble.ts';
import { prepareCall } from './run-tool.ts';
import type { Servers } from './servers.ts';

/** What one turn works with. The mode is asked for at every call: it may be changed while the turn runs. */
export type TurnWorld = {
  readonly model: Model;
  readonly modelName: string;
  readonly system: string;
  readonly maxTurns?: number;
  readonly rules: readonly Rule[];
  readonly workspace: Workspace;
  readonly channel: ControlChannel;
  readonly servers: Servers;
  mode(): PermissionMode;
  /** Whether a server lives in the program: those are trusted. */
  isOwn(server: string): boolean;
};

/** All tools there are now, as this model can take them. */
export function poolOf(servers: Servers, model: Model): Pool {
  return assemble({ builtIns: [], servers: servers.tools, maxNameLength: model.limits.toolName });
}

/** Runs the loop for one user message; never rejects. */
export async function runTurn(
  messages: ModelMessage[],
  world: TurnWorld,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<Pick<TurnFacts, 'end' | 'denials'>> {
  const { model, modelName, maxTurns, servers } = world;
  const denials: TurnFacts['denials'][number][] = [];
  let pool = poolOf(servers, model);
  const round = () => {
    pool = poolOf(servers, model);
    const tools = pool.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    return { system: world.system, tools, ...(pool.cacheAfter >= 0 && { cacheAfterTool: pool.cacheAfter }) };
  };
  const isOwn = ({ origin }: PooledTool) => origin.kind === 'mcp' && world.isOwn(origin.server);
  const prepare = (call: ToolCall, within: AbortSignal) => {
    const rules = {
      pool,
      servers,
      decide: (it: ToolCall, tool: PooledTool) => decideCall(it, tool, world, isOwn(tool)),
      ask: (it: ToolCall, tool: PooledTool, asking: AbortSignal) =>
        askProgram(world.channel, it, tool, { isOwn: isOwn(tool), signal: asking }),
      onDenied: (it: ToolCall) =>
        denials.push({ tool_name: it.name, tool_use_id: it.id, tool_input: it.input }),
    };
    return prepareCall(call, rules, within);
  };
  const config = { model, modelName, maxTokens: model.limits.outputTokens, round, prepare };
  try {
    const limited = maxTurns === undefined ? config : { ...config, maxTurns };
    return { end: await loop({ messages }, limited, emit, signal), denials };
  } catch (cause) {
    const usage = { input_tokens: 0, output_tokens: 0 };
    return { end: { reason: 'failed', fault: messageOf(cause), turns: 1, usage }, denials };
  }
}

function decideCall(call: ToolCall, tool: PooledTool, world: TurnWorld, trusted: boolean): Decision {
  const { origin, listed } = tool;
  const input = isRecord(call.input) ? call.input : {};
  const ref = origin.kind === 'mcp' ? { server: origin.server, tool: origin.tool } : {};
  return decide({
    call: { name: call.name, ...ref, input },
    rules: world.rules,
    mode: world.mode(),
    bypassLaunched: false,
    trusted,
    ...(listed.annotations && { annotations: listed.annotations }),
    workspace: world.workspace,
  });
}
