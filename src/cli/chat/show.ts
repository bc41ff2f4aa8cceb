import { isRecord } from '../../base/json-value.ts';
import type { SDKMessage } from '../../protocol/agent-message.ts';
import { LOG_LEVELS, type LogLevel } from '../../protocol/mcp.ts';
import { cutLine, line, type Piece, type Span } from '../terminal/render.ts';
import { showResult } from './live/tool-result.ts';
import {
  callSummary,
  elapsed,
  parseProgress,
  resultPieces,
  resultSummary,
  retryText,
} from './message-text.ts';
import {
  addCall,
  addFolded,
  addResult,
  changeCall,
  decideCall,
  findCall,
  knownOf,
  type ServerHealth,
  type Shown,
  serverFaults,
  serversOf,
  type Verdict,
  type View,
} from './view.ts';

/** A message of the agent, or an action of the user. */
export type ViewEvent =
  | { readonly kind: 'prompted' }
  | { readonly kind: 'received'; readonly message: SDKMessage; readonly at: number }
  | { readonly kind: 'chosen'; readonly model?: string; readonly mode?: string }
  | { readonly kind: 'learned'; readonly servers: readonly ServerHealth[] }
  | { readonly kind: 'asked'; readonly id: string; readonly reason?: string; readonly server?: string }
  | { readonly kind: 'decided'; readonly id: string; readonly verdict: Verdict; readonly at: number };

/** Applies an event to the view; returns the new view and the output. */
export function show(view: View, event: ViewEvent): Shown {
  switch (event.kind) {
    case 'prompted':
      return quiet({ ...view, hasText: false });
    case 'chosen': {
      const { kind: _kind, ...choice } = event;
      return quiet({ ...view, init: { ...view.init, ...choice } });
    }
    case 'learned': {
      const { faults, lines } = serverFaults(view.faults, event.servers);
      return { view: { ...view, faults }, pieces: lines.map((text) => line([text, 'warn'])) };
    }
    case 'asked': {
      const { id, reason, server } = event;
      const asked = { ...(reason !== undefined && { reason }), ...(server !== undefined && { server }) };
      return quiet({ ...view, calls: changeCall(view.calls, id, { asked }) });
    }
    case 'decided': {
      const { id, verdict, at } = event;
      // The time of the decision is not part of the tool's duration.
      return quiet({ ...view, calls: changeCall(decideCall(view.calls, id, verdict), id, { since: at }) });
    }
    case 'received':
      return receive(view, event.message, event.at);
  }
}

function receive(view: View, message: SDKMessage, at: number): Shown {
  switch (message.type) {
    case 'stream_event':
      return message.parent_tool_use_id === null ? stream(view, message.event) : quiet(view);
    case 'assistant':
      return showAssistant(view, message, at);
    case 'user':
      if (message.origin?.kind === 'channel')
        return showChannelMessages(view, message, message.origin.server);
      return takeResults(view, message, at);
    case 'result':
      return {
        view: { ...view, totals: addResult(view.totals, message), ...contextShare(view, message) },
        pieces: resultPieces(message, view.hasText),
      };
    case 'tool_progress':
      return quiet({ ...view, calls: takeProgress(view.calls, message) });
    default:
      return noticePieces(view, message, at);
  }
}

/** The share of the context window that the last request used, if the agent reports the size of the window. */
function contextShare(view: View, message: Extract<SDKMessage, { type: 'result' }>): Pick<View, 'context'> {
  const models = Object.values(message.modelUsage ?? {});
  const window = Math.max(0, ...models.map(({ contextWindow }) => Number(contextWindow) || 0));
  if (window === 0 || view.contextTokens === 0) return {};
  return { context: Math.min(100, Math.round((100 * view.contextTokens) / window)) };
}

function stream(view: View, event: Record<string, unknown>): Shown {
  if (event.type === 'message_start') {
    const { id } = event.message as { id?: string };
    return quiet({ ...view, ...(id !== undefined && { streaming: id }) });
  }
  if (event.type === 'message_delta') {
    const { stop_reason } = event.delta as { stop_reason?: unknown };
    return quiet({ ...view, wasCutOff: stop_reason === 'max_tokens' });
  }
  if (event.type === 'content_block_start') {
    const { type } = event.content_block as { type?: unknown };
    if (type !== 'text') return quiet(view);
    // A reply that was cut off at its maximum length continues in the middle of a word.
    return { view: { ...view, wasCutOff: false }, pieces: view.wasCutOff ? [] : [{ kind: 'break' }] };
  }
  const delta = event.type === 'content_block_delta' ? (event.delta as { text?: unknown }) : undefined;
  if (typeof delta?.text !== 'string' || delta.text === '') return quiet(view);
  const id = view.streaming ?? '';
  const streamed = view.streamed.has(id) ? view.streamed : new Set([...view.streamed, id]);
  return { view: { ...view, streamed, hasText: true }, pieces: [{ kind: 'flow', text: delta.text }] };
}

function showAssistant(view: View, message: Extract<SDKMessage, { type: 'assistant' }>, at: number): Shown {
  const isNested = message.parent_tool_use_id !== null;
  const wasStreamed = view.streamed.has(message.message.id);
  const pieces: Piece[] = [];
  let { calls, hasText } = view;
  // The result repeats the text of a failed request, as an error.
  if (message.error !== undefined) return quiet(view);
  for (const block of message.message.content) {
    if (block.type === 'text' && !isNested && !wasStreamed && block.text !== '') {
      pieces.push({ kind: 'break' }, { kind: 'flow', text: block.text }, { kind: 'break' });
      hasText = true;
    }
    if (block.type === 'tool_use') {
      const { id, name, input } = block;
      calls = addCall(calls, { id, name, input, isNested, since: at, outcome: 'running' });
      pieces.push(
        cutLine(
          isNested ? '  ' : '',
          ['● ', 'accent'],
          [name, 'strong'],
          [` ${callSummary(name, input)}`, 'dim'],
        ),
      );
    }
  }
  const contextTokens = isNested ? view.contextTokens : tokensOf(message.message) || view.contextTokens;
  return { view: { ...view, calls, hasText, contextTokens }, pieces };
}

/** The tokens of a request and its reply, which the next request contains. */
function tokensOf({ usage }: { readonly usage?: unknown }): number {
  if (!isRecord(usage)) return 0;
  const counts = [
    usage.input_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation_input_tokens,
    usage.output_tokens,
  ];
  return counts.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
}

const OUTCOMES = {
  ok: ['✓ ', 'good'],
  failed: ['✗ failed ', 'bad'],
  denied: ['⊘ denied ', 'warn'],
} as const;

function takeResults(view: View, message: Extract<SDKMessage, { type: 'user' }>, at: number): Shown {
  const { content } = message.message;
  const pieces: Piece[] = [];
  let { calls, folded } = view;
  for (const block of typeof content === 'string' ? [] : content) {
    const call = block.type === 'tool_result' ? findCall(calls, block.tool_use_id) : undefined;
    if (block.type !== 'tool_result' || call?.outcome !== 'running') continue;
    const outcome = call.verdict?.behavior === 'deny' ? 'denied' : block.is_error ? 'failed' : 'ok';
    calls = changeCall(calls, call.id, { outcome });
    const indent = call.isNested ? '    ' : '  ';
    const result = showResult(block.content, message.tool_use_result, `${indent}  `, outcome !== 'ok');
    const took = Number.isNaN(call.since) ? '' : `${elapsed(at - call.since)} `;
    const spans: Span[] = [indent, OUTCOMES[outcome], [`${call.name} ${took}`, 'dim'], ...result.head];
    // The results of a sub-agent are cut to one row: its answer matters more.
    if (call.isNested || view.isBrief) pieces.push(cutLine(...spans));
    else pieces.push({ kind: 'line', spans, overflow: 'wrap', hang: indent.length + 2 }, ...result.body);
    if (result.all) folded = addFolded(folded, { name: call.name, pieces: result.all });
  }
  return { view: { ...view, calls, folded }, pieces };
}

/** Shows the messages that a server pushed into the conversation; the agent's answer to them follows. */
function showChannelMessages(view: View, message: object, server: string): Shown {
  const { channel_messages: given }: { channel_messages?: unknown } = message;
  const messages = Array.isArray(given) ? given.filter(isRecord) : [];
  const pieces = messages.map(({ content }) =>
    cutLine(['✉ ', 'accent'], [server, 'strong'], ` ${resultSummary(String(content))}`),
  );
  return { view: { ...view, hasText: false }, pieces };
}

function takeProgress(calls: View['calls'], message: Readonly<Record<string, unknown>>): View['calls'] {
  const id = String(message.tool_use_id);
  const progress = parseProgress(message.progress);
  return progress && findCall(calls, id) ? changeCall(calls, id, { progress }) : calls;
}

function quiet(view: View): Shown {
  return { view, pieces: [] };
}

type Notice = Readonly<Record<string, unknown>>;

/** System messages. Unknown subtypes are ignored. */
function noticePieces(view: View, message: SDKMessage, at: number): Shown {
  const notice = message as Notice;
  const take = notice.type === 'system' ? NOTICES[String(notice.subtype)] : undefined;
  return take ? take(view, notice, at) : { view, pieces: [] };
}

const NOTICES: Readonly<Record<string, (view: View, notice: Notice, at: number) => Shown>> = {
  init,
  commands_changed: (view, { commands }) => ({
    view: { ...view, commands: commandNames(commands) },
    pieces: [],
  }),
  team_changed: (view, { teammates }) => ({
    view: { ...view, team: Array.isArray(teammates) ? teammates.filter(isRecord) : [] },
    pieces: [],
  }),
  permission_denied: (view, notice, at) => decided(view, notice, 'deny', at),
  permission_decided: (view, notice, at) =>
    decided(view, notice, notice.behavior === 'allow' ? 'allow' : 'deny', at),
  api_retry: (view, notice) => ({ view, pieces: [line([retryText(notice), 'warn'])] }),
  model_fallback: (view, notice) => ({ view, pieces: [line([retryText(notice), 'warn'])] }),
  mcp_log: (view, { server, level, data }) => ({
    view,
    pieces: [cutLine([`${server} ${level}: `, isSerious(level) ? 'warn' : 'dim'], logText(data))],
  }),
  background_tasks_changed: (view, { tasks }) => ({
    view: { ...view, background: Array.isArray(tasks) ? tasks.length : 0 },
    pieces: [],
  }),
  status: (view, { permissionMode: mode }) => ({
    view: typeof mode === 'string' ? { ...view, init: { ...view.init, mode } } : view,
    pieces: [],
  }),
  compact_boundary: (view) => ({ view, pieces: [line(['The conversation was compacted', 'dim'])] }),
  informational: (view, { content, level }) => ({
    view,
    pieces: level === 'info' ? [] : textPieces(content, level === 'warning' ? 'warn' : 'dim'),
  }),
  notification: (view, { text }) => ({ view, pieces: textPieces(text, 'dim') }),
  local_command_output: (view, { content }) => ({
    view: { ...view, hasText: true },
    pieces: textPieces(content, 'plain'),
  }),
};

function isSerious(level: unknown): boolean {
  return LOG_LEVELS.indexOf(level as LogLevel) >= LOG_LEVELS.indexOf('warning');
}

function logText(data: unknown): string {
  return typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
}

/** The names of slash commands, which agents send as strings or as objects. */
export function commandNames(commands: unknown): string[] {
  if (!Array.isArray(commands)) return [];
  return commands.flatMap((it) => {
    const name = isRecord(it) ? it.name : it;
    return typeof name === 'string' ? [name.replace(/^\//, '')] : [];
  });
}

/** The start of a turn. */
function init(view: View, notice: Notice): Shown {
  const commands = commandNames(notice.slash_commands);
  const { model, permissionMode: mode } = notice;
  return {
    view: {
      ...view,
      servers: serversOf(notice),
      commands: commands.length > 0 ? commands : view.commands,
      init: {
        tools: Array.isArray(notice.tools) ? notice.tools.map(String) : [],
        ...(typeof model === 'string' && { model }),
        ...(typeof mode === 'string' && { mode }),
      },
    },
    pieces: [],
  };
}

function decided(view: View, notice: Notice, behavior: 'allow' | 'deny', at: number): Shown {
  const { tool_use_id, decision_reason: reason, message } = notice;
  const id = String(tool_use_id);
  const why = typeof reason === 'string' ? reason : typeof message === 'string' ? message : undefined;
  const verdict = { behavior, by: 'agent' as const, ...(why !== undefined && { reason: why }) };
  // A call starts when it is decided, after the calls before it in the reply.
  const calls = changeCall(decideCall(view.calls, id, verdict), id, { since: at });
  const { verdict: kept, asked } = knownOf(calls, id);
  const pieces = channelAnswer(notice);
  if (kept === verdict || why === undefined || asked?.reason !== undefined) {
    return { view: { ...view, calls }, pieces };
  }
  // The agent's reason is why the user was asked.
  const known = { ...asked, reason: why.replace(/^canUseTool answered: /, '') };
  return { view: { ...view, calls: changeCall(calls, id, { asked: known }) }, pieces };
}

/** A line if a channel answered a permission question before the user did. */
function channelAnswer({ channel, behavior, tool_name: tool }: Notice): Piece[] {
  if (typeof channel !== 'string') return [];
  const outcome: Span[] = behavior === 'allow' ? [['✓ ', 'good'], 'allowed'] : [['⊘ ', 'warn'], 'denied'];
  return [cutLine(...outcome, ' by channel ', [channel, 'strong'], `: ${tool}`)];
}

function textPieces(text: unknown, tone: 'dim' | 'warn' | 'plain'): Piece[] {
  return typeof text === 'string' && text !== '' ? [line([text, tone])] : [];
}
