import { randomUUID } from 'node:crypto';
import { within } from '../../base/async/timers.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import type { PooledTool } from '../../pool/pool.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConnectOutcome } from '../builtins/built-in.ts';
import type { Agent } from '../calls/call-context.ts';
import { agentFields } from '../calls/pool-call.ts';
import { NO_USAGE } from '../loop/loop.ts';
import { textOf } from '../models/message-collector.ts';
import { checkImages } from '../models/sanitize-request.ts';
import { NOT_COMPACTED } from '../session/compaction.ts';
import { commandOutput } from '../session/conversation.ts';
import { reminderText } from '../session/reminders.ts';
import type { Session } from '../session/session.ts';
import type { UserMessage } from '../session/turn-queue.ts';
import { mentionedFiles } from '../skills/mentioned-files.ts';
import { newTexts, type TakenNotices } from '../tasks/notices.ts';
import { connectedServers } from './agent-tools.ts';
import { backgroundFields, runAgent, stopHook, type TurnEnd } from './run-agent.ts';
import { commandNames, expandCommand, listCommands } from './slash-commands.ts';
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
  const { content: given, uuid, isVerbatim = false } = message;
  session.output?.startTurn();
  session.skills.beginTurn();
  // Counted from the start of connecting: a server that hangs delays the first turn only.
  const waitMs = CONNECT_WAIT_MS - (startedAt - session.servers.lastConnectAt);
  if (waitMs > 0) await within(waitMs, session.servers.offered(), signal);
  await within(RECONNECT_WAIT_MS, session.servers.retryFailed(), signal);
  await session.skills.refreshServers(signal);
  const isCommand = hostCommand(commandText(given)) !== undefined;
  if (!isCommand) {
    sendInit(session);
    replay(session, message);
  }
  const report = new TurnReport(session);
  const { notices } = message;
  const prompt = notices
    ? await prepareNotices(session, message, notices, signal)
    : await preparePrompt(session, { given, uuid, isVerbatim }, report, signal);
  const ended =
    'blocks' in prompt
      ? await runLead(
          session,
          { ...prompt, blocks: withPassiveNotices(session, prompt.blocks) },
          uuid,
          report,
          turn,
          notices,
        )
      : prompt.end;
  const denials = [...ended.denials, ...session.takeDenials()];
  const { end } = ended;
  const apiError =
    end.reason === 'failed' && end.modelError !== undefined ? report.fail(end.modelError) : undefined;
  report.end();
  session.skills.turn.reset();
  session.subAgents.turnEnded();
  // A program may resume the session as soon as it has the result.
  await session.conversation.saved();
  const result = resultMessage({
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
  });
  const [first] = notices?.notices ?? [];
  const sent = { ...result, ...(first?.origin && { origin: first.origin }) };
  session.emit('command' in prompt ? withoutModel({ ...sent, local_command: prompt.command }) : sent);
}

/** The result of a message that no model request answers. */
function withoutModel({ terminal_reason: _, api_error_status: __, ...result }: Frame): Frame {
  return result;
}

/** A user message with its id; one is made for messages without. */
type TurnMessage = UserMessage & { readonly uuid: string };

/** Adds a message that starts no turn to the conversation. The program gets an empty result for it. */
export async function takeNote(session: Session, message: TurnMessage): Promise<void> {
  sendInit(session);
  replay(session, message);
  const content = checkImages(message.content);
  if (content.length > 0) session.conversation.add(content, message.uuid);
  await session.conversation.saved();
  const result = resultMessage({
    end: { reason: 'done', turns: 0, usage: NO_USAGE },
    denials: [],
    text: '',
    stopReason: null,
    durationMs: 0,
    modelMs: 0,
    ...spentBy(session),
    turns: 0,
  });
  session.emit(withoutModel(result));
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

/**
 * The times of the first request and reply in whole milliseconds since the start of the turn; events that did not
 * happen are left out.
 */
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
  const modelUsage = usageTotals.report(options.model.limits, options.providerOf);
  return { costUsd: usageTotals.costUsd, modelUsage };
}

function leadModel({ modelName, planModelName, context }: Session): string {
  return (modeOf(context.rules.current()) === 'plan' ? planModelName : undefined) ?? modelName;
}

function sendInit(session: Session): void {
  session.conversation.reportTitles();
  session.emit(initMessage(session));
  announceCommands(session);
}

/** Sends a message to the program whenever the list of commands changes: prompts of servers are commands. */
export function announceCommands(session: Session): void {
  const commands = listCommands(session);
  const names = commandNames(commands);
  if (names === session.announcedCommands) return;
  session.announcedCommands = names;
  session.emit({ type: 'system', subtype: 'commands_changed', commands });
}

/** Sends the program what enters the conversation besides its own messages. */
function sendNotices(session: Session, { notices }: TakenNotices): void {
  for (const { text, origin, details } of notices) {
    if (!origin) continue;
    const message = { role: 'user', content: [{ type: 'text', text }] };
    const timestamp = new Date().toISOString();
    const fields = { parent_tool_use_id: null, isSynthetic: true, timestamp, origin };
    session.emit({ type: 'user', message, ...fields, ...details });
  }
}

/** Notices that start no turn by themselves come with the next prompt. */
function withPassiveNotices(session: Session, blocks: readonly UserBlock[]): readonly UserBlock[] {
  const batch = session.notices.take('prompt');
  if (!batch) return blocks;
  return [...newTexts(batch).map((text) => ({ type: 'text' as const, text })), ...blocks];
}

/** The content of a turn that notices start. They are neither commands nor prompts, so no hooks of prompts run. */
async function prepareNotices(
  session: Session,
  { content }: TurnMessage,
  batch: TakenNotices,
  signal: AbortSignal,
): Promise<PreparedPrompt> {
  const { additionalContext } = await session.start(signal);
  sendNotices(session, batch);
  const contexts =
    additionalContext === undefined ? [] : [{ type: 'text' as const, text: additionalContext }];
  return { blocks: [...content, ...contexts] };
}

async function runLead(
  session: Session,
  { blocks: content, reminders = [] }: PromptBlocks,
  uuid: string,
  report: TurnReport,
  turn: AbortController,
  notices: TakenNotices | undefined,
): Promise<TurnEnd> {
  const { conversation, options, output } = session;
  const before = await session.reminders.beforePrompt(conversation.messages, turn.signal);
  conversation.addReminders([...before, ...reminders.map(reminderText)]);
  conversation.recordChannelMessages(notices?.channelMessages ?? []);
  // Nothing is new if the conversation contains all messages of channels that the turn answers.
  if (content.length > 0) conversation.add(content, uuid, notices ? 'meta' : 'prompt');
  session.reminders.added(conversation.messages);
  await session.context.checkpoints
    ?.begin(uuid, turn.signal)
    .catch((cause) => session.context.note(`Files cannot be rewound to this message: ${messageOf(cause)}`));
  let isStopPrevented = false;
  const stop = stopHook(MAX_CONTINUATIONS, async (isActive, stopSignal) => {
    const effect = await session.hooks.run(
      'Stop',
      {
        ...agentFields({ agent, session: session.context }),
        ...backgroundFields(session.context),
        stop_hook_active: isActive,
        last_assistant_message: report.text,
      },
      stopSignal,
    );
    isStopPrevented = effect.stop !== undefined;
    return effect;
  });
  const agent: Agent = {
    messages: conversation.messages,
    modelName: () => session.skills.turn.model ?? leadModel(session),
    chosenModel: () => session.skills.turn.model,
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
    afterRound: (round, signal) => session.reminders.afterRound(round, signal),
    takeNotices: () => {
      const batch = session.notices.take('round');
      if (!batch) return [];
      conversation.recordChannelMessages(batch.channelMessages);
      sendNotices(session, batch);
      return newTexts(batch);
    },
    connectServer: (name) => connectServer(session, name),
    readableServers: () => connectedServers(session.servers),
    featuresOf: () => session.context.features,
  };
  const ended = await runAgent(
    agent,
    session.context,
    (event) => {
      conversation.observe(event, report.handle(event));
      if (event.kind === 'replied' && event.message.id !== '') session.notices.answered(conversation.saved());
    },
    { signal: turn.signal, interrupt: () => turn.abort() },
  );
  if (ended.end.reason === 'interrupted') {
    const text = ended.end.isDuringCalls ? INTERRUPTED_CALLS : INTERRUPTED_REPLY;
    const note = [{ type: 'text' as const, text }];
    conversation.add(note, report.interrupt(note));
  }
  return { ...ended, isStopPrevented };
}

/** The user messages that an interrupt adds to the conversation; programs and models know these texts. */
const INTERRUPTED_REPLY = '[Request interrupted by user]';
const INTERRUPTED_CALLS = '[Request interrupted by user for tool use]';

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

/** The content for the model, and texts of the agent itself before it. */
type PromptBlocks = { readonly blocks: readonly UserBlock[]; readonly reminders?: readonly string[] };

/** The content for the model, or the end of the turn and its result text if nothing is sent to the model. */
type PreparedPrompt =
  | PromptBlocks
  | { readonly end: TurnEnd; readonly text: string; readonly command?: string };

/** Expands a slash command to its prompt, and lets UserPromptSubmit hooks add context or block the prompt. */
async function preparePrompt(
  session: Session,
  { given, uuid, isVerbatim }: { given: readonly UserBlock[]; uuid: string; isVerbatim: boolean },
  report: TurnReport,
  signal: AbortSignal,
): Promise<PreparedPrompt> {
  if (given.length === 0) return failed('The message has no content');
  const text = textOf(given, '\n');
  const started = await session.start(signal);
  const handled = await runHostCommand(session, commandText(given), uuid, report, signal);
  if (handled) return handled;
  const submitted = await session.hooks.run('UserPromptSubmit', { prompt: text }, signal);
  // An interrupted hook has made no decision.
  if (signal.aborted && session.hooks.has('UserPromptSubmit')) return interrupted();
  const refusal =
    submitted.stop ?? (submitted.decision === 'deny' ? (submitted.reason ?? 'it gave no reason') : undefined);
  if (refusal !== undefined) return done(`A hook blocked the prompt: ${refusal}`);
  const last = commandText(given);
  const expanded = last.startsWith('/') && !isVerbatim ? await expandSlash(session, last, signal) : undefined;
  if (expanded && 'fault' in expanded) {
    if (signal.aborted) return interrupted();
    if (!expanded.isAnswer) return done(expanded.fault);
    report.sendText(expanded.fault);
    session.conversation.noteCommand({ name: 'custom', args: '', typed: last, output: expanded.fault });
    return { ...done(expanded.fault), command: 'custom' };
  }
  const contexts = [started.additionalContext, submitted.additionalContext].filter((it) => it !== undefined);
  const before = given.toSpliced(given.findLastIndex(isText), 1);
  const blocks = checkImages(expanded?.blocks ? [...before, ...expanded.blocks] : given);
  const mentions = isVerbatim ? [] : await mentionedFiles(textOf(given, '\n'), session.context, signal);
  return {
    blocks: [...blocks, ...contexts.map((it) => ({ type: 'text' as const, text: it }))],
    reminders: [...(expanded?.reminders ?? []), ...mentions],
  };
}

type ExpandedPrompt =
  | { readonly blocks?: readonly UserBlock[]; readonly reminders?: readonly string[] }
  /** `isAnswer`: the agent itself answers the command. */
  | { readonly fault: string; readonly isAnswer?: true };

/** Expands a prompt of a server or a command of a file. Of an unknown command the model gets a reminder. */
async function expandSlash(
  session: Session,
  text: string,
  signal: AbortSignal,
): Promise<ExpandedPrompt | undefined> {
  const prompt = await expandCommand(text, session.context, signal);
  if (prompt) return prompt;
  try {
    const ran = await session.skills.runSlashCommand(text, signal);
    if (ran?.kind === 'answer') return { fault: ran.text, isAnswer: true };
    if (ran) return { blocks: ran.texts.map((it) => ({ type: 'text', text: it })), reminders: ran.mentions };
  } catch (cause) {
    if (!signal.aborted) throw cause;
    return { fault: 'interrupted' };
  }
  const unknown = session.skills.unknownCommand(
    text,
    listCommands(session).map(({ name }) => name),
  );
  return unknown === undefined ? undefined : { reminders: [unknown] };
}

/** The text that may be a slash command: as with the `claude` CLI, the last text block. */
function commandText(given: readonly UserBlock[]): string {
  return given.findLast(isText)?.text ?? '';
}

function isText(block: UserBlock): block is Extract<UserBlock, { type: 'text' }> {
  return block.type === 'text';
}

/** Parses `/clear`, with its aliases, and `/compact`; undefined for any other text. */
function hostCommand(
  text: string,
): { readonly name: 'clear' | 'compact'; readonly typed: string; readonly rest: string } | undefined {
  const [, typed, rest = ''] = /^\/(clear|new|reset|compact)(?:\s+(.*))?$/s.exec(text.trimEnd()) ?? [];
  if (typed === undefined) return undefined;
  return { name: typed === 'compact' ? 'compact' : 'clear', typed, rest };
}

/** Runs a command of the agent itself; undefined for any other text. */
async function runHostCommand(
  session: Session,
  text: string,
  uuid: string,
  report: TurnReport,
  signal: AbortSignal,
): Promise<PreparedPrompt | undefined> {
  const command = hostCommand(text);
  if (!command) return undefined;
  const { conversation } = session;
  const { name, typed, rest: args } = command;
  // The init message follows the command: `/clear` gives the session another id.
  if (name === 'clear') {
    await session.clear(uuid);
    conversation.noteCommand({ name, args, output: '' });
    sendInit(session);
    return { ...done(''), command: typed };
  }
  if (conversation.messages.length === 0) {
    sendInit(session);
    const output = 'Error: No messages to compact';
    report.sendText(output);
    conversation.noteCommand({ name, args, output, isError: true });
    return { ...done(''), command: name };
  }
  try {
    const compaction = { instructions: args || undefined, onDone: () => sendInit(session) };
    const isCompacted = await conversation.compact(
      'manual',
      currentSystemPrompt(session),
      signal,
      compaction,
    );
    if (isCompacted) {
      const output = 'Compacted ';
      const shown = { message: { role: 'user', content: commandOutput(output) }, uuid: randomUUID() };
      conversation.noteCommand({ name, args, output, uuid: shown.uuid });
      session.emit(replayMessage(shown, new Date()));
      return { ...done(''), command: name };
    }
    sendInit(session);
    report.sendText(NOT_COMPACTED);
    return { ...done(NOT_COMPACTED), command: name };
  } catch (cause) {
    sendInit(session);
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
