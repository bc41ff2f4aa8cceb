import { within } from '../../base/async/timers.ts';
import type { PooledTool } from '../../pool/pool.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConnectOutcome } from '../builtins/built-in.ts';
import type { Agent } from '../calls/call-context.ts';
import { NO_USAGE } from '../loop/loop.ts';
import { textOf } from '../models/message-collector.ts';
import type { Session } from '../session/session.ts';
import type { UserMessage } from '../session/turn-queue.ts';
import { connectedServers } from './agent-tools.ts';
import { NO_BACKGROUND, runAgent, stopHook, type TurnEnd } from './run-agent.ts';
import { expandCommand, listCommands } from './slash-commands.ts';
import { runSubAgent } from './sub-agent.ts';
import { currentSystemPrompt } from './system-prompt.ts';
import { initMessage, replayMessage, resultMessage, TurnReport } from './turn-report.ts';

/** How long a turn waits for servers that are connecting; servers that connect later are available in a later round. */
const CONNECT_WAIT_MS = 5_000;
/** How long a turn waits for lost servers to reconnect. */
const RECONNECT_WAIT_MS = 500;
/** How often a Stop hook may make the agent continue. */
const MAX_CONTINUATIONS = 8;

/** Answers one user message, from the `system/init` message to the `result` message. */
export async function takeTurn(session: Session, message: TurnMessage, turn: AbortController): Promise<void> {
  const startedAt = performance.now();
  const { signal } = turn;
  const { content: given, uuid } = message;
  session.output?.startTurn();
  // Counted from the start of connecting: a server that hangs delays the first turn only.
  const waitMs = CONNECT_WAIT_MS - (startedAt - session.servers.lastConnectAt);
  if (waitMs > 0) await within(waitMs, session.servers.offered(), signal);
  await within(RECONNECT_WAIT_MS, session.servers.retryFailed(), signal);
  // `/clear` first ends the session, so that the init message has the new session's id.
  const isClear = hostCommand(textOf(given, '\n'))?.name === 'clear';
  if (!isClear) {
    sendInit(session);
    replay(session, message);
  }
  const prompt = await preparePrompt(session, given, uuid, signal);
  if (isClear) sendInit(session);
  const report = new TurnReport(session);
  const ended = 'blocks' in prompt ? await runLead(session, prompt.blocks, uuid, report, turn) : prompt.end;
  const denials = [...ended.denials, ...report.denials];
  const { end } = ended;
  const apiError =
    end.reason === 'failed' && end.modelError !== undefined ? report.fail(end.modelError) : undefined;
  report.end();
  // A program may resume the session as soon as it has the result.
  await session.conversation.saved();
  session.emit(
    resultMessage({
      ...ended,
      denials,
      text: 'blocks' in prompt ? report.text : prompt.text,
      ...(session.output?.given && { output: session.output.given }),
      stopReason: report.stopReason,
      durationMs: performance.now() - startedAt,
      modelMs: report.modelMs,
      timings: timingsOf(report.first, startedAt),
      ...spentBy(session),
      turns: 'blocks' in prompt ? report.turns : 0,
      maxTurns: session.options.maxTurns,
      apiError,
    }),
  );
}

/** A user message with its id; one is made for messages without. */
type TurnMessage = UserMessage & { readonly uuid: string };

/** Adds a message that starts no turn to the conversation. The program gets an empty result for it. */
export async function takeNote(session: Session, message: TurnMessage): Promise<void> {
  sendInit(session);
  replay(session, message);
  if (message.content.length > 0) session.conversation.add(message.content, message.uuid);
  await session.conversation.saved();
  const {
    terminal_reason: _,
    api_error_status: __,
    ...result
  } = resultMessage({
    end: { reason: 'done', turns: 0, usage: NO_USAGE },
    denials: [],
    text: '',
    stopReason: null,
    durationMs: 0,
    modelMs: 0,
    ...spentBy(session),
    turns: 0,
  });
  session.emit(result);
}

function replay(session: Session, message: TurnMessage): void {
  if (session.options.replayUserMessages && !message.isSynthetic)
    session.emit(replayMessage(message, new Date()));
}

/** The result message of a turn that failed by an internal error, so that the program does not wait forever. */
export function failedTurnMessage(error: unknown, session: Session): Frame {
  const end = { reason: 'failed' as const, fault: messageOf(error), turns: 0, usage: NO_USAGE };
  return resultMessage({
    end,
    denials: [],
    text: '',
    stopReason: null,
    durationMs: 0,
    modelMs: 0,
    ...spentBy(session),
    turns: 0,
  });
}

/** In whole milliseconds since the start of the turn; what did not happen is left out. */
function timingsOf({ requestAt, replyAt, contentAt }: TurnReport['first'], startedAt: number): Frame {
  const since = (name: string, at: number | undefined) =>
    at === undefined ? {} : { [name]: Math.round(at - startedAt) };
  return {
    ...since('ttft_ms', contentAt),
    ...since('ttft_stream_ms', replyAt),
    ...since('time_to_request_ms', requestAt),
  };
}

function spentBy({ usageTotals, options }: Session) {
  return { costUsd: usageTotals.costUsd, modelUsage: usageTotals.report(options.model.limits) };
}

function sendInit(session: Session): void {
  session.conversation.reportTitles();
  session.emit(initMessage(session));
  announceCommands(session);
}

/** Sends a message to the program whenever the list of commands changes: prompts of servers are commands. */
export function announceCommands(session: Session): void {
  const commands = listCommands(session);
  const names = commands.map(({ name }) => name).join();
  if (names === session.announcedCommands) return;
  session.announcedCommands = names;
  session.emit({ type: 'system', subtype: 'commands_changed', commands });
}

async function runLead(
  session: Session,
  content: readonly UserBlock[],
  uuid: string,
  report: TurnReport,
  turn: AbortController,
): Promise<TurnEnd> {
  const { conversation, options, output } = session;
  conversation.add(content, uuid);
  await session.context.checkpoints
    ?.begin(uuid, turn.signal)
    .catch((cause) => session.context.note(`Files cannot be rewound to this message: ${messageOf(cause)}`));
  const stop = stopHook(MAX_CONTINUATIONS, (isActive, stopSignal) =>
    session.hooks.run(
      'Stop',
      { ...NO_BACKGROUND, stop_hook_active: isActive, last_assistant_message: report.text },
      stopSignal,
    ),
  );
  const agent: Agent = {
    messages: conversation.messages,
    modelName: () => session.modelName,
    system: () => currentSystemPrompt(session),
    pool: session.pool,
    disclosure: session.disclosure,
    index: session.index,
    ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
    parentToolUseId: null,
    identity: {},
    listed: () => session.servers.listed(),
    servers: () => session.servers.all,
    target: (server) => session.servers.target(server),
    compactIfNeeded: conversation.compactIfNeeded,
    beforeEnd: async (signal) => output?.remind() ?? (await stop(signal)),
    ...(output && { output }),
    connectServer: (name) => connectServer(session, name),
    readableServers: () => connectedServers(session.servers),
    featuresOf: () => session.context.features,
    delegate: (call, request, signal) =>
      session.trackBackground(
        runSubAgent(
          call,
          request,
          {
            session: session.context,
            definitions: session.agents,
            connect: session.connectDeps,
            modelName: () => session.modelName,
            report: (event, parent) => report.handle(event, parent),
            denied: (denials) => void report.denials.push(...denials),
            interrupt: () => turn.abort(),
          },
          signal,
        ),
      ),
  };
  return runAgent(
    agent,
    session.context,
    (event) => {
      conversation.observe(event, report.handle(event, null));
    },
    { signal: turn.signal, interrupt: () => turn.abort() },
  );
}

async function connectServer(session: Session, name: string): Promise<ConnectOutcome> {
  const { servers } = session;
  if (servers.connection(name)) return { kind: 'already-connected' };
  const state = await servers.connect(name);
  switch (state?.kind) {
    case undefined:
      return { kind: 'unknown', available: [...servers.all.keys()] };
    case 'connected': {
      const pool = session.pool();
      const isItsOwn = ({ origin }: PooledTool) => origin.kind === 'mcp' && origin.server === name;
      const searchable = session.disclosure.divide(pool).searchable.filter(isItsOwn);
      return {
        kind: 'connected',
        tools: pool.tools.filter(isItsOwn).map((tool) => tool.name),
        searchable: searchable.length,
      };
    }
    case 'failed':
    case 'needs-auth':
      return { kind: 'failed', fault: state.fault };
    default:
      return { kind: 'failed', fault: `the server is ${state?.kind}` };
  }
}

/** The content for the model, or the end of the turn and its result text if nothing is sent to the model. */
type PreparedPrompt =
  | { readonly blocks: readonly UserBlock[] }
  | { readonly end: TurnEnd; readonly text: string };

/** Expands a slash command to its prompt, and lets UserPromptSubmit hooks add context or block the prompt. */
async function preparePrompt(
  session: Session,
  given: readonly UserBlock[],
  uuid: string,
  signal: AbortSignal,
): Promise<PreparedPrompt> {
  if (given.length === 0) return failed('The message has no content');
  const text = textOf(given, '\n');
  const started = await session.start(signal);
  const handled = await runHostCommand(session, text, uuid, signal);
  if (handled) return handled;
  const submitted = await session.hooks.run('UserPromptSubmit', { prompt: text }, signal);
  // An interrupted hook has made no decision.
  if (signal.aborted && session.hooks.has('UserPromptSubmit')) return interrupted();
  const refusal = submitted.stop ?? (submitted.decision === 'deny' ? (submitted.reason ?? '') : undefined);
  if (refusal !== undefined) return done(`A hook blocked the prompt: ${refusal}`);
  const expanded = text.startsWith('/') ? await expandCommand(text, session.context, signal) : undefined;
  if (expanded && 'fault' in expanded) return signal.aborted ? interrupted() : done(expanded.fault);
  const contexts = [started.additionalContext, submitted.additionalContext].filter((it) => it !== undefined);
  return {
    blocks: [...(expanded?.blocks ?? given), ...contexts.map((it) => ({ type: 'text' as const, text: it }))],
  };
}

/** Parses `/clear`, with its aliases, and `/compact`; undefined for any other text. */
function hostCommand(
  text: string,
): { readonly name: 'clear' | 'compact'; readonly rest: string } | undefined {
  const [, name, rest = ''] = /^\/(clear|new|reset|compact)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  if (name === undefined) return undefined;
  return { name: name === 'compact' ? 'compact' : 'clear', rest };
}

/** Runs a command of the agent itself; undefined for any other text. */
async function runHostCommand(
  session: Session,
  text: string,
  uuid: string,
  signal: AbortSignal,
): Promise<PreparedPrompt | undefined> {
  const command = hostCommand(text);
  const { conversation } = session;
  if (command?.name === 'clear') {
    await session.clear(uuid);
    return done('');
  }
  if (!command) return undefined;
  try {
    const isCompacted = await conversation.compact(
      'manual',
      currentSystemPrompt(session),
      signal,
      command.rest || undefined,
    );
    return done(isCompacted ? 'The conversation was compacted.' : 'Nothing to compact.');
  } catch (cause) {
    if (signal.aborted) return interrupted();
    throw cause;
  }
}

function done(text: string): PreparedPrompt {
  return ended({ reason: 'done' }, text);
}

function interrupted(): PreparedPrompt {
  return ended({ reason: 'interrupted' });
}

function failed(fault: string): PreparedPrompt {
  return ended({ reason: 'failed', fault });
}

/** The end of a turn without a model request. */
function ended(
  how: { reason: 'done' | 'interrupted' } | { reason: 'failed'; fault: string },
  text = '',
): PreparedPrompt {
  return { end: { end: { ...how, turns: 0, usage: NO_USAGE }, denials: [] }, text };
}
