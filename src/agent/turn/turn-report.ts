import { isRecord } from '../../base/json-value.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import { completedUse } from '../calls/prepare-call.ts';
import { type LoopEvent, NO_USAGE } from '../loop/loop.ts';
import { textOf } from '../models/message-collector.ts';
import type { ModelError } from '../models/model.ts';
import { type ApiFailure, describeFailure } from '../models/model-error.ts';
import { completeUsage } from '../models/usage-totals.ts';
import { allServerStatus } from '../session/server-status.ts';
import type { Session } from '../session/session.ts';
import type { UserMessage } from '../session/turn-queue.ts';
import { AgentReport } from './agent-report.ts';
import type { TurnEnd } from './run-agent.ts';
import { listCommands } from './slash-commands.ts';

/** Sends the messages of a turn of the lead to the program, and collects the fields of its result message. */
export class TurnReport {
  text = '';
  modelMs = 0;
  /** When the first request was sent, when its reply began, and when the content of the reply began. */
  readonly first: { requestAt?: number; replyAt?: number; contentAt?: number } = {};
  /** The stop reason of the last reply. */
  stopReason: string | null = null;
  readonly #session: Session;
  readonly #report: AgentReport;
  #requestedAt = performance.now();

  constructor(session: Session) {
    this.#session = session;
    this.#report = new AgentReport({
      parent: null,
      isPartial: session.options.includePartialMessages === true,
      texts: 'all',
      complete: (call) => completedUse(call, session.context),
      emit: (message) => session.emit(message),
    });
  }

  /** The number of turns as reported to programs: one, and one for each user message of the turn. */
  get turns(): number {
    return this.#report.userMessages + 1;
  }

  /** Sends the assistant message of a failed model request; returns the fields of the result message. */
  fail(error: ModelError): ApiErrorFields {
    const { text, ...failure } = describeFailure(error, this.#session.modelName);
    const fields = {
      api_error_status: error.status ?? null,
      ...(error.type !== undefined && { api_error_type: error.type }),
    };
    this.#report.sendError(text, failure.error, fields);
    this.text = text;
    this.stopReason = error.code === 'refused' ? 'refusal' : 'stop_sequence';
    return { ...fields, terminal_reason: failure.terminalReason };
  }

  /** Sends a text of the agent itself as an assistant message. */
  sendText(text: string): void {
    this.#report.sendText(text);
  }

  /** Sends the user message about an interrupt; returns its id. */
  interrupt(content: readonly UserBlock[]): string {
    return this.#report.sendUser(content);
  }

  /** Sends nothing from now on. */
  end(): void {
    this.#report.end();
  }

  /** Reports one event. For an event that is stored, returns the id of its last message, which the transcript uses too. */
  handle(event: LoopEvent): string {
    const now = performance.now();
    switch (event.kind) {
      case 'requested':
        this.first.requestAt ??= now;
        if (this.#session.options.includePartialMessages === true)
          this.#session.emit({ type: 'system', subtype: 'status', status: 'requesting' });
        break;
      case 'streamed':
        this.first.replyAt ??= now;
        if (event.event.type !== 'message_start') this.first.contentAt ??= now;
        break;
      case 'discarded':
        this.#session.countReply(event.model, event.usage);
        break;
      case 'replied':
        this.#session.countReply(event.model, event.message.usage);
        this.#recordReply(event);
        break;
      case 'results-added':
      case 'text-added':
        if ('refused' in event) this.#session.emit(refusalNotice(this.#session.modelName));
        this.#requestedAt = now;
        break;
      default:
        break;
    }
    return this.#report.handle(event);
  }

  #recordReply({ message }: Extract<LoopEvent, { kind: 'replied' }>): void {
    this.stopReason = message.stop_reason;
    this.modelMs += performance.now() - this.#requestedAt;
    if (message.content.some(({ type }) => type === 'text')) this.text = textOf(message.content);
  }
}

function refusalNotice(model: string): Frame {
  const content = `The safeguards of ${model} stopped the response above; continuing once with that noted`;
  return { type: 'system', subtype: 'informational', content, level: 'notice' };
}

/** The `system/init` message at the start of a turn. */
export function initMessage(session: Session): Frame {
  const { options, servers } = session;
  return {
    type: 'system',
    subtype: 'init',
    cwd: options.workspace.cwd,
    // Programs know the tool by its former name here, and only here.
    tools: session.pool().tools.map(({ name }) => (name === 'Agent' ? 'Task' : name)),
    mcp_servers: allServerStatus(servers.all, options.configured).map(({ name, status, source }) => ({
      name,
      status,
      source,
    })),
    model: session.modelName,
    permissionMode: modeOf(session.context.rules.current()),
    slash_commands: listCommands(session).map(({ name }) => name),
    apiKeySource: options.account?.apiKeySource ?? 'none',
    claude_code_version: options.version,
    output_style: session.skills.styleName,
    fast_mode_state: 'off',
    skills: session.skills.names,
    plugins: session.skills.plugins,
    ...(session.memory?.autoFolder !== undefined && { memory_paths: { auto: session.memory.autoFolder } }),
    agents: sortedAgents(session).map(([name]) => name),
  };
}

const BY_NAME = new Intl.Collator('en', { sensitivity: 'base' });

/** The kinds of sub-agents by name, whatever the case of letters. */
export function sortedAgents({ agents }: Pick<Session, 'agents'>): [string, AgentDefinition][] {
  return Object.entries(agents).toSorted(([a], [b]) => BY_NAME.compare(a, b));
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
  /** The number of turns, as reported to programs. */
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
    terminal_reason: terminalReason(end, facts.isStopPrevented),
    ...(facts.costUsd !== undefined && { total_cost_usd: facts.costUsd }),
    usage: completeUsage(end.usage),
    modelUsage: facts.modelUsage,
    permission_denials: denials,
    fast_mode_state: 'off',
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
    case 'deferred': {
      const { id, name, input } = end.deferred ?? {};
      const { api_error_status: _, ...result } = success(text, { ...timings, ...common });
      return { ...result, stop_reason: 'tool_deferred', deferred_tool_use: { id, name, input } };
    }
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

/** The only message of a session that cannot be opened: an error result without a turn. */
export function unopenedMessage(fault: string): Frame {
  const {
    terminal_reason: _,
    fast_mode_state: __,
    ...result
  } = resultMessage({
    end: { reason: 'failed', fault, turns: 0, usage: NO_USAGE },
    denials: [],
    text: '',
    stopReason: null,
    durationMs: 0,
    modelMs: 0,
    costUsd: 0,
    modelUsage: {},
    turns: 0,
  });
  return result;
}

const TERMINAL: Readonly<Record<TurnEnd['end']['reason'], string>> = {
  done: 'completed',
  stopped: 'hook_stopped',
  deferred: 'tool_deferred',
  'max-turns': 'max_turns',
  budget: 'budget_exhausted',
  'no-output': 'structured_output_retry_exhausted',
  interrupted: 'aborted_streaming',
  failed: 'api_error',
};

function terminalReason(end: TurnEnd['end'], isStopPrevented = false): string {
  if (end.reason === 'done' && isStopPrevented) return 'stop_hook_prevented';
  return isDuringCalls(end) ? 'aborted_tools' : TERMINAL[end.reason];
}

function isDuringCalls(end: TurnEnd['end']): boolean {
  return end.reason === 'interrupted' && end.isDuringCalls === true;
}

function success(result: string | undefined, common: Frame): Frame {
  return { type: 'result', subtype: 'success', is_error: false, api_error_status: null, result, ...common };
}

function failure(subtype: string, text: string, common: Frame): Frame {
  return { type: 'result', subtype, is_error: true, errors: [text], ...common };
}

/** Whether a message names the user message that it answers: replies of the main agent and the result. */
export function answersPrompt({ type, parent_tool_use_id: parent, event }: Frame): boolean {
  if (type === 'result') return true;
  const isStart = type === 'stream_event' && isRecord(event) && event.type === 'message_start';
  return (type === 'assistant' || isStart) && parent === null;
}
