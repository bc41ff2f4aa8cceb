import { startTimer } from '../base/timer.ts';
import type { UserBlock } from '../protocol/agent-message.ts';
import type { LoopEvent } from './agent/loop.ts';
import type { ConnectOutcome } from './builtin/built-in.ts';
import { assistantMessage, initMessage, resultMessage, resultsMessage } from './messages.ts';
import { modeOf } from './permission/rule-store.ts';
import { expandCommand, promptCommands } from './prompt-commands.ts';
import { serverStatus } from './server-status.ts';
import type { Session } from './session.ts';
import { runSubAgent } from './sub-agent.ts';
import { systemPrompt } from './system-prompt.ts';
import { runTurn } from './turn.ts';
import type { Denial, TurnEnd, Worker } from './worker.ts';

/** How long a turn waits for servers that are still being dialled; those that come later are there in a later round. */
const PATIENCE_MS = 5_000;
/** How often a hook may send the agent on. */
const MOST_CONTINUATIONS = 8;

/** One message of the user, from `system/init` to `result`. Never rejects. */
export async function takeTurn(
  session: Session,
  given: readonly UserBlock[],
  uuid: string,
  turn: AbortController,
): Promise<void> {
  const since = performance.now();
  const { signal } = turn;
  await within(PATIENCE_MS, session.servers.ready(), signal);
  session.say(initMessage(initFacts(session)));
  const asked = await readPrompt(session, given, signal);
  const report = new Report(session);
  const done = 'blocks' in asked ? await run(session, asked.blocks, uuid, report, turn) : asked.end;
  const denials = [...done.denials, ...report.denials];
  session.say(
    resultMessage({
      ...done,
      denials,
      text: 'blocks' in asked ? report.text : asked.text,
      durationMs: performance.now() - since,
      modelMs: report.modelMs,
      modelUsage: session.modelUsage,
    }),
  );
}

async function run(
  session: Session,
  content: readonly UserBlock[],
  uuid: string,
  report: Report,
  turn: AbortController,
): Promise<TurnEnd> {
  const { conversation, options } = session;
  conversation.add(content, uuid);
  const worker: Worker = {
    messages: conversation.messages,
    modelName: () => session.modelName,
    system: () => promptNow(session),
    pool: session.pool,
    ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
    parentToolUseId: null,
    who: {},
    connection: (server) => session.servers.connection(server),
    makeRoom: conversation.makeRoom,
    beforeEnd: stopHooks(session, report),
    connectServer: (name) => connectServer(session, name),
    delegate: (call, request, signal) =>
      runSubAgent(
        call,
        request,
        {
          session: session.world,
          connect: session.connectWorld,
          modelName: () => session.modelName,
          report: (event, parent) => report.tell(event, parent),
          denied: (denials) => void report.denials.push(...denials),
        },
        signal,
      ),
  };
  return runTurn(
    worker,
    session.world,
    (event) => {
      const id = crypto.randomUUID();
      conversation.observe(event, id);
      report.tell(event, null, id);
    },
    { signal: turn.signal, interrupt: () => turn.abort() },
  );
}

/** What the program hears of a turn, and what its result will say. */
class Report {
  text = '';
  modelMs = 0;
  readonly denials: Denial[] = [];
  readonly #session: Session;
  #askedAt = performance.now();

  constructor(session: Session) {
    this.#session = session;
  }

  tell(event: LoopEvent, parent: string | null, uuid?: string): void {
    const say = (message: object) => this.#session.say({ ...message, ...(uuid && { uuid }) });
    this.#session.count(event);
    switch (event.kind) {
      case 'streamed':
        if (this.#session.options.includePartialMessages) {
          say({ type: 'stream_event', event: event.event, parent_tool_use_id: parent, uuid: undefined });
        }
        break;
      case 'replied':
        if (parent === null) this.#hear(event);
        if (event.message.content.length > 0) say(assistantMessage(event.message, parent));
        break;
      case 'results-added':
      case 'text-added':
        if (parent === null) this.#askedAt = performance.now();
        say(resultsMessage(event.content, parent));
        break;
      case 'call-started':
      case 'call-finished':
        break;
    }
  }

  #hear({ message }: Extract<LoopEvent, { kind: 'replied' }>): void {
    this.modelMs += performance.now() - this.#askedAt;
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) this.text = texts.join('');
  }
}

type Asked = { readonly blocks: readonly UserBlock[] } | { readonly end: TurnEnd; readonly text: string };

/** What the user wants said to the model: a command becomes its prompt, hooks add to it or keep it back. */
async function readPrompt(
  session: Session,
  given: readonly UserBlock[],
  signal: AbortSignal,
): Promise<Asked> {
  const text = given.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const started = await session.start(signal);
  const submitted = await session.hooks.run('UserPromptSubmit', { prompt: text }, signal);
  const refusal = submitted.stop ?? (submitted.decision === 'deny' ? (submitted.reason ?? '') : undefined);
  if (refusal !== undefined) return ended(`The prompt was held back by a hook: ${refusal}`);
  const own = await ownCommand(session, text, signal);
  if (own !== undefined) return ended(own);
  const expanded = text.startsWith('/') ? await expandCommand(text, session.servers.all, signal) : undefined;
  const contexts = [started.additionalContext, submitted.additionalContext].filter((it) => it !== undefined);
  return { blocks: [...(expanded ?? given), ...contexts.map((it) => ({ type: 'text' as const, text: it }))] };
}

/** Commands of the host itself; what each did, in words. */
async function ownCommand(session: Session, text: string, signal: AbortSignal): Promise<string | undefined> {
  const [, name, rest = ''] = /^\/(clear|compact)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  if (name === 'clear') {
    session.conversation.clear();
    return 'The conversation was cleared.';
  }
  if (name !== 'compact') return undefined;
  const { conversation } = session;
  const isShorter = await conversation.compact('manual', promptNow(session), signal, rest || undefined);
  return isShorter ? 'The conversation was made shorter.' : 'There was nothing to make shorter.';
}

function ended(text: string): Asked {
  const usage = { input_tokens: 0, output_tokens: 0 };
  return { end: { end: { reason: 'done', turns: 0, usage }, denials: [] }, text };
}

function stopHooks(session: Session, report: Report): NonNullable<Worker['beforeEnd']> {
  let continuations = 0;
  return async (signal) => {
    const fields = { stop_hook_active: continuations > 0, last_assistant_message: report.text };
    const { decision, reason } = await session.hooks.run('Stop', fields, signal);
    return decision === 'deny' && continuations++ < MOST_CONTINUATIONS ? (reason ?? 'Go on.') : undefined;
  };
}

async function connectServer(session: Session, name: string): Promise<ConnectOutcome> {
  const { servers } = session;
  if (servers.connection(name)) return { kind: 'already-connected' };
  const state = await servers.connect(name);
  switch (state?.kind) {
    case undefined:
      return { kind: 'unknown', available: [...servers.all.keys()] };
    case 'connected': {
      const tools = session
        .pool()
        .tools.filter(({ origin }) => origin.kind === 'mcp' && origin.server === name);
      return { kind: 'connected', tools: tools.map((tool) => tool.name) };
    }
    case 'failed':
      return { kind: 'failed', fault: state.fault };
    default:
      return { kind: 'failed', fault: `it is ${state?.kind}` };
  }
}

function promptNow(session: Session): string {
  return systemPrompt({
    own: session.systemPrompt,
    append: session.appendSystemPrompt,
    servers: session.servers.all,
    canConnect: session.pool().byName.has('connect_mcp'),
  });
}

function initFacts(session: Session) {
  const { options, servers } = session;
  return {
    cwd: options.workspace.cwd,
    model: session.modelName,
    tools: session.pool().tools.map(({ name }) => name),
    servers: serverStatus(servers.all).map(({ name, status, source }) => ({ name, status, source })),
    permissionMode: modeOf(session.world.rules.current()),
    version: options.version,
    commands: ['clear', 'compact', ...promptCommands(servers.all).map(({ name }) => name)],
    agents: Object.keys(session.agents),
  };
}

async function within(ms: number, work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = startTimer(ms, resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
