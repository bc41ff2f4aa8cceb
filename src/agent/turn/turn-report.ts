import { randomUUID } from 'node:crypto';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Denial } from '../calls/call-context.ts';
import type { LoopEvent } from '../loop/loop.ts';
import { resultBlock, type ToolOutcome, type ToolUse } from '../loop/run-calls.ts';
import type { ReplyHead } from '../models/message-collector.ts';
import type { Session } from '../session/session.ts';
import type { TurnEnd } from './run-agent.ts';

/** What the program hears of a turn, and what its result will say. */
export class TurnReport {
  text = '';
  modelMs = 0;
  /** How the last reply ended. */
  stopReason: string | null = null;
  readonly denials: Denial[] = [];
  readonly #session: Session;
  /** How many blocks of the present reply were told, by who replies. */
  readonly #told = new Map<string | null, number>();
  /** Calls whose results are still to be told, in the model's order, by who called. */
  readonly #awaited = new Map<string | null, string[]>();
  readonly #outcomes = new Map<string, { call: ToolUse; outcome: ToolOutcome }>();
  #lastId = '';
  #askedAt = performance.now();
  #isOver = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /** From now on nothing is told: a sub-agent that was interrupted may still be finishing. */
  end(): void {
    this.#isOver = true;
  }

  /** Tells of one event; the id of the last message that it took, which names what was said on disk too. */
  handle(event: LoopEvent, parent: string | null): string {
    this.#session.count(event);
    if (!this.#isOver) this.#tell(event, parent);
    return this.#lastId;
  }

  #tell(event: LoopEvent, parent: string | null): void {
    const isPartial = this.#session.options.includePartialMessages === true;
    switch (event.kind) {
      case 'requested':
        this.#told.set(parent, 0);
        if (isPartial && parent === null) {
          this.#session.emit({ type: 'system', subtype: 'status', status: 'requesting' });
        }
        break;
      case 'block-finished':
        this.#told.set(parent, (this.#told.get(parent) ?? 0) + 1);
        this.#say(assistantMessage(event.block, event.reply, parent));
        break;
      case 'streamed':
        if (isPartial) {
          this.#session.emit({ type: 'stream_event', event: event.event, parent_tool_use_id: parent });
        }
        break;
      case 'replied':
        if (parent === null) this.#hear(event);
        // What an interrupt cut off was never finished.
        for (const block of event.message.content.slice(this.#told.get(parent) ?? 0)) {
          this.#say(assistantMessage(block, event.message, parent));
        }
        this.#awaited.set(
          parent,
          event.message.content.flatMap((it) => (it.type === 'tool_use' ? [it.id] : [])),
        );
        break;
      case 'call-finished':
        this.#outcomes.set(event.call.id, event);
        this.#tellFinished(parent);
        break;
      case 'results-added':
      case 'text-added':
        if (parent === null) this.#askedAt = performance.now();
        this.#tellResults(event.content, parent);
        break;
      case 'call-started':
        break;
    }
  }

  /** Each result is a message of its own, told as soon as those before it are. */
  #tellFinished(parent: string | null): void {
    const awaited = this.#awaited.get(parent) ?? [];
    for (let next = awaited[0]; next !== undefined; next = awaited[0]) {
      const finished = this.#outcomes.get(next);
      if (!finished) return;
      awaited.shift();
      this.#outcomes.delete(next);
      this.#say(
        resultsMessage([resultBlock(finished.call, finished.outcome)], parent, toldOf(finished.outcome)),
      );
    }
  }

  /** What an interrupt left untold, then what hooks said beside the results. */
  #tellResults(content: readonly UserBlock[], parent: string | null): void {
    const awaited = new Set(this.#awaited.get(parent));
    this.#awaited.delete(parent);
    for (const block of content) {
      if (block.type !== 'tool_result' || !awaited.has(block.tool_use_id)) continue;
      const finished = this.#outcomes.get(block.tool_use_id);
      this.#outcomes.delete(block.tool_use_id);
      this.#say(resultsMessage([block], parent, finished && toldOf(finished.outcome)));
    }
    const beside = content.filter((block) => block.type !== 'tool_result');
    if (beside.length > 0) this.#say(resultsMessage(beside, parent));
  }

  #say(message: object): void {
    this.#lastId = randomUUID();
    this.#session.emit({ ...message, uuid: this.#lastId });
  }

  #hear({ message }: Extract<LoopEvent, { kind: 'replied' }>): void {
    this.stopReason = message.stop_reason;
    this.modelMs += performance.now() - this.#askedAt;
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) this.text = texts.join('');
  }
}

function toldOf({ programResult: told, content, isError }: ToolOutcome): unknown {
  if (!isError) return told ?? content;
  const texts =
    typeof content === 'string' ? [content] : content.map((it) => (it.type === 'text' ? it.text : ''));
  return `Error: ${texts.join('\n')}`;
}

type InitFacts = {
  readonly cwd: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly servers: readonly { name: string; status: string; source?: string }[];
  readonly permissionMode: PermissionMode;
  readonly version: string;
  readonly commands: readonly string[];
  readonly agents: readonly string[];
};

/** The start of a turn: what the agent has at hand. */
export function initMessage(facts: InitFacts): Frame {
  return {
    type: 'system',
    subtype: 'init',
    cwd: facts.cwd,
    tools: facts.tools,
    mcp_servers: facts.servers,
    model: facts.model,
    permissionMode: facts.permissionMode,
    slash_commands: facts.commands,
    apiKeySource: 'none',
    claude_code_version: facts.version,
    output_style: 'default',
    skills: [],
    plugins: [],
    agents: facts.agents,
  };
}

/** One block of a reply: programs get a message for each, as it is finished. */
function assistantMessage(block: ModelBlock, reply: ReplyHead, parent: string | null): Frame {
  const { id, model, usage } = reply;
  const rest = { stop_reason: null, stop_sequence: null, usage };
  return {
    type: 'assistant',
    message: { id, type: 'message', role: 'assistant', model, content: [block], ...rest },
    parent_tool_use_id: parent,
  };
}

/** `told` is what a program may want of a result that the model was not given. */
function resultsMessage(content: readonly UserBlock[], parent: string | null, told?: unknown): Frame {
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: parent,
    ...(told !== undefined && { tool_use_result: told }),
  };
}

type TurnFacts = TurnEnd & {
  /** The last text the model said. */
  readonly text: string;
  /** How the last reply ended. */
  readonly stopReason: string | null;
  readonly durationMs: number;
  /** Of that, how long models were waited for. */
  readonly modelMs: number;
  readonly modelUsage: Readonly<Record<string, Usage>>;
};

/** The end of a turn, in the subtypes the protocol has for it. */
export function resultMessage({ end, text, denials, ...facts }: TurnFacts): Frame {
  const common = {
    duration_ms: Math.round(facts.durationMs),
    duration_api_ms: Math.round(facts.modelMs),
    num_turns: end.turns,
    stop_reason: facts.stopReason,
    terminal_reason: TERMINAL[end.reason],
    total_cost_usd: 0,
    usage: end.usage,
    modelUsage: Object.fromEntries(
      Object.entries(facts.modelUsage).map(([name, usage]) => [name, usageOf(usage)]),
    ),
    permission_denials: denials,
  };
  switch (end.reason) {
    case 'done':
      return { type: 'result', subtype: 'success', is_error: false, result: text, ...common };
    case 'stopped':
      return {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: text || end.stopReason,
        ...common,
      };
    case 'max-turns':
      return failure('error_max_turns', `Reached maximum number of turns (${end.turns})`, common);
    case 'interrupted':
      return failure('error_during_execution', 'The turn was interrupted', common);
    case 'failed':
      return failure('error_during_execution', end.fault, common);
  }
}

const TERMINAL: Readonly<Record<TurnEnd['end']['reason'], string>> = {
  done: 'completed',
  stopped: 'hook_stopped',
  'max-turns': 'max_turns',
  interrupted: 'aborted_tools',
  failed: 'api_error',
};

function usageOf(usage: Usage): Frame {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadInputTokens: usage.cache_read_input_tokens ?? 0,
    cacheCreationInputTokens: usage.cache_creation_input_tokens ?? 0,
    webSearchRequests: 0,
    costUSD: 0,
    contextWindow: 0,
  };
}

function failure(subtype: string, text: string, common: Frame): Frame {
  return { type: 'result', subtype, is_error: true, errors: [text], ...common };
}
