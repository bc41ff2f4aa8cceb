import { randomUUID } from 'node:crypto';
import { modeOf } from '../../permissions/rule-store.ts';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { Denial } from '../calls/call-context.ts';
import { type LoopEvent, NO_USAGE } from '../loop/loop.ts';
import { resultBlock, type ToolOutcome, type ToolUse } from '../loop/run-calls.ts';
import { type ReplyHead, textOf } from '../models/message-collector.ts';
import type { ModelError, ModelEvent } from '../models/model.ts';
import { type ApiFailure, describeFailure } from '../models/model-error.ts';
import { allServerStatus } from '../session/server-status.ts';
import type { Session } from '../session/session.ts';
import type { UserMessage } from '../session/turn-queue.ts';
import type { TurnEnd } from './run-agent.ts';
import { listCommands } from './slash-commands.ts';

/** Sends the messages of a turn to the program, and collects the fields of its result message. */
export class TurnReport {
  text = '';
  modelMs = 0;
  /** When the first request was sent, when its reply began, and when the content of the reply began. */
  readonly first: { requestAt?: number; replyAt?: number; contentAt?: number } = {};
  /** The stop reason of the last reply. */
  stopReason: string | null = null;
  readonly denials: Denial[] = [];
  readonly #session: Session;
  /** How many blocks of the current reply were sent, by the call that started the agent. */
  readonly #reported = new Map<string | null, number>();
  /** Calls whose results have not been sent yet, in the order of the calls, by the call that started the agent. */
  readonly #awaited = new Map<string | null, string[]>();
  readonly #outcomes = new Map<string, { call: ToolUse; outcome: ToolOutcome }>();
  #lastId = '';
  /** When the current request was sent, by the call that started the agent. */
  readonly #sentAt = new Map<string | null, number>();
  #requestedAt = performance.now();
  #isClosed = false;
  #userMessages = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The number of turns as programs are told it: one, and one for each user message of the turn. */
  get turns(): number {
    return this.#userMessages + 1;
  }

  /** Sends the assistant message of a failed model request; returns the fields of the result message. */
  fail(error: ModelError): ApiErrorFields {
    const { text, ...failure } = describeFailure(error, this.#session.modelName);
    const fields = {
      api_error_status: error.status ?? null,
      ...(error.type !== undefined && { api_error_type: error.type }),
    };
    this.#send({
      ...assistantMessage({ type: 'text', text }, syntheticReply(), null, SYNTHETIC_END),
      error: failure.error,
      is_api_error_message: true,
      ...fields,
    });
    this.text = text;
    this.stopReason = 'stop_sequence';
    return { ...fields, terminal_reason: failure.terminalReason };
  }

  /** Sends nothing from now on: an interrupted sub-agent may still be finishing. */
  end(): void {
    this.#isClosed = true;
  }

  /** Reports one event. Returns the id of the last message, which the transcript uses too. */
  handle(event: LoopEvent, parent: string | null): string {
    if (event.kind === 'replied') this.#session.addUsage(event.model, event.message.usage);
    if (!this.#isClosed) this.#report(event, parent);
    return this.#lastId;
  }

  #report(event: LoopEvent, parent: string | null): void {
    const isPartial = this.#session.options.includePartialMessages === true;
    switch (event.kind) {
      case 'requested':
        this.#reported.set(parent, 0);
        this.#sentAt.set(parent, performance.now());
        if (parent === null) this.first.requestAt ??= performance.now();
        if (isPartial && parent === null) {
          this.#session.emit({ type: 'system', subtype: 'status', status: 'requesting' });
        }
        break;
      case 'block-finished':
        this.#reported.set(parent, (this.#reported.get(parent) ?? 0) + 1);
        this.#send(assistantMessage(event.block, event.reply, parent));
        break;
      case 'streamed':
        this.#reportStreamed(event.event, parent, isPartial);
        break;
      case 'replied':
        if (parent === null) this.#recordReply(event);
        // Blocks that an interrupt cut off have no `block-finished` event.
        for (const block of event.message.content.slice(this.#reported.get(parent) ?? 0)) {
          this.#send(assistantMessage(block, event.message, parent));
        }
        this.#awaited.set(
          parent,
          event.message.content.flatMap((it) => (it.type === 'tool_use' ? [it.id] : [])),
        );
        break;
      case 'call-finished':
        this.#outcomes.set(event.call.id, event);
        this.#reportFinished(parent);
        break;
      case 'results-added':
      case 'text-added':
        if (parent === null) this.#requestedAt = performance.now();
        if (parent === null && event.kind === 'text-added') this.#userMessages++;
        if (!('isSilent' in event)) this.#reportResults(event.content, parent);
        break;
      case 'call-started':
        break;
    }
  }

  #reportStreamed(event: ModelEvent, parent: string | null, isPartial: boolean): void {
    const isStart = event.type === 'message_start';
    const now = performance.now();
    if (parent === null) {
      this.first.replyAt ??= now;
      if (!isStart) this.first.contentAt ??= now;
    }
    if (!isPartial) return;
    const waited = isStart && { ttft_ms: Math.round(now - (this.#sentAt.get(parent) ?? now)) };
    this.#session.emit({ type: 'stream_event', event, parent_tool_use_id: parent, ...waited });
  }

  /** Each result is a message of its own, sent as soon as the results before it are. */
  #reportFinished(parent: string | null): void {
    const awaited = this.#awaited.get(parent) ?? [];
    for (let next = awaited[0]; next !== undefined; next = awaited[0]) {
      const finished = this.#outcomes.get(next);
      if (!finished) return;
      awaited.shift();
      this.#outcomes.delete(next);
      const block = resultBlock(finished.call, finished.outcome);
      this.#sendResults(resultsMessage([block], parent, programResultOf(finished.outcome)), parent);
    }
  }

  /** Sends the results that an interrupt left over, then the texts of hooks. */
  #reportResults(content: readonly UserBlock[], parent: string | null): void {
    const awaited = new Set(this.#awaited.get(parent));
    this.#awaited.delete(parent);
    for (const block of content) {
      if (block.type !== 'tool_result' || !awaited.has(block.tool_use_id)) continue;
      const finished = this.#outcomes.get(block.tool_use_id);
      this.#outcomes.delete(block.tool_use_id);
      this.#sendResults(
        resultsMessage([block], parent, finished && programResultOf(finished.outcome)),
        parent,
      );
    }
    const texts = content.filter((block) => block.type !== 'tool_result');
    if (texts.length > 0) this.#send(resultsMessage(texts, parent));
  }

  #sendResults(message: Frame, parent: string | null): void {
    if (parent === null) this.#userMessages++;
    this.#send(message);
  }

  #send(message: object): void {
    this.#lastId = randomUUID();
    this.#session.emit({ ...message, uuid: this.#lastId });
  }

  #recordReply({ message }: Extract<LoopEvent, { kind: 'replied' }>): void {
    this.stopReason = message.stop_reason;
    this.modelMs += performance.now() - this.#requestedAt;
    if (message.content.some(({ type }) => type === 'text')) this.text = textOf(message.content);
  }
}

function programResultOf({ programResult, content, isError }: ToolOutcome): unknown {
  if (!isError) return programResult ?? content;
  const texts =
    typeof content === 'string' ? [content] : content.map((it) => (it.type === 'text' ? it.text : ''));
  return `Error: ${texts.join('\n')}`;
}

/** The `system/init` message at the start of a turn. */
export function initMessage(session: Session): Frame {
  const { options, servers } = session;
  return {
    type: 'system',
    subtype: 'init',
    cwd: options.workspace.cwd,
    tools: session.pool().tools.map(({ name }) => name),
    mcp_servers: allServerStatus(servers.all, options.configured).map(({ name, status, source }) => ({
      name,
      status,
      source,
    })),
    model: session.modelName,
    permissionMode: modeOf(session.context.rules.current()),
    slash_commands: listCommands(session).map(({ name }) => name),
    apiKeySource: 'none',
    claude_code_version: options.version,
    output_style: 'default',
    skills: [],
    plugins: [],
    agents: Object.keys(session.agents),
  };
}

/** Programs get one message per finished block of a reply. */
function assistantMessage(
  block: ModelBlock,
  reply: ReplyHead,
  parent: string | null,
  end: { stop_reason: string | null; stop_sequence: string | null } = NOT_ENDED,
): Frame {
  const { id, model, usage } = reply;
  const head = { id, type: 'message', role: 'assistant', model };
  return {
    type: 'assistant',
    message: { ...head, content: [block], ...end, usage, context_management: null },
    parent_tool_use_id: parent,
  };
}

const NOT_ENDED = { stop_reason: null, stop_sequence: null };
const SYNTHETIC_END = { stop_reason: 'stop_sequence', stop_sequence: '' };

/** The head of a message that no model wrote. */
function syntheticReply(): ReplyHead {
  return { id: randomUUID(), model: '<synthetic>', usage: NO_USAGE };
}

/** A user message that is sent back to the program; `readAt` is the time when its turn began. */
export function replayMessage(
  { message, uuid }: Pick<UserMessage, 'message' | 'uuid'>,
  readAt?: Date,
): Frame {
  return {
    type: 'user',
    message,
    parent_tool_use_id: null,
    uuid,
    ...(readAt && { timestamp: readAt.toISOString() }),
    isReplay: true,
  };
}

/** `programResult` is the result for the program, if it holds more than the content for the model. */
function resultsMessage(
  content: readonly UserBlock[],
  parent: string | null,
  programResult?: unknown,
): Frame {
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: parent,
    ...(programResult !== undefined && { tool_use_result: programResult }),
  };
}

type TurnFacts = TurnEnd & {
  /** The last text of the model. */
  readonly text: string;
  /** The structured output, if the model gave one. */
  readonly output?: { readonly value: unknown };
  /** The stop reason of the last reply. */
  readonly stopReason: string | null;
  readonly durationMs: number;
  /** The time spent waiting for models. */
  readonly modelMs: number;
  /** The times from the start of the turn to the first request and reply. */
  readonly timings?: Frame;
  /** The cost of the session; undefined if it is unknown. */
  readonly costUsd: number | undefined;
  readonly modelUsage: Frame;
  /** The number of turns, as programs are told it. */
  readonly turns: number;
  readonly maxTurns?: number | undefined;
  /** Set if a model request failed; `text` describes the failure then. */
  readonly apiError?: ApiErrorFields | undefined;
};

type ApiErrorFields = {
  readonly api_error_status: number | null;
  readonly api_error_type?: string;
  readonly terminal_reason: ApiFailure['terminalReason'];
};

/** The `result` message at the end of a turn. */
export function resultMessage({ end, text, output, denials, ...facts }: TurnFacts): Frame {
  const common = {
    duration_ms: Math.round(facts.durationMs),
    duration_api_ms: Math.round(facts.modelMs),
    num_turns: facts.turns,
    stop_reason: facts.stopReason,
    terminal_reason: TERMINAL[end.reason],
    ...(facts.costUsd !== undefined && { total_cost_usd: facts.costUsd }),
    usage: completeUsage(end.usage),
    modelUsage: facts.modelUsage,
    permission_denials: denials,
  };
  const { timings } = facts;
  switch (end.reason) {
    case 'done':
      return success(output ? JSON.stringify(output.value) : text, {
        ...(output && { structured_output: output.value }),
        ...timings,
        ...common,
      });
    case 'stopped':
      return success(text || end.stopReason, { ...timings, ...common });
    case 'max-turns':
      return failure('error_max_turns', `Reached maximum number of turns (${facts.maxTurns})`, common);
    case 'budget':
      return failure('error_max_budget_usd', end.stopReason ?? '', common);
    case 'no-output':
      return failure('error_max_structured_output_retries', end.stopReason ?? '', common);
    case 'interrupted':
      return failure('error_during_execution', 'The turn was interrupted', common);
    case 'failed':
      if (facts.apiError) return { ...success(text, common), is_error: true, ...facts.apiError };
      return failure('error_during_execution', end.fault, common);
  }
}

const TERMINAL: Readonly<Record<TurnEnd['end']['reason'], string>> = {
  done: 'completed',
  stopped: 'hook_stopped',
  'max-turns': 'max_turns',
  budget: 'budget_exhausted',
  'no-output': 'structured_output_retry_exhausted',
  interrupted: 'aborted_tools',
  failed: 'api_error',
};

/** The members of `usage` that a program may read without a check; models report some of them only when they apply. */
const UNREPORTED_USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
  service_tier: 'standard',
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
  inference_geo: '',
  iterations: [],
  speed: 'standard',
  output_tokens_details: { thinking_tokens: 0 },
  fallback_credit: null,
};

export function completeUsage(usage: Usage): Frame & typeof UNREPORTED_USAGE {
  const reported = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
  return { ...UNREPORTED_USAGE, ...Object.fromEntries(reported) };
}

function success(result: string | undefined, common: Frame): Frame {
  return { type: 'result', subtype: 'success', is_error: false, api_error_status: null, result, ...common };
}

function failure(subtype: string, text: string, common: Frame): Frame {
  return { type: 'result', subtype, is_error: true, errors: [text], ...common };
}
