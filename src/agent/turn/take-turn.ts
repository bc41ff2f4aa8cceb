import { within } from '../../base/async/timers.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import type { PooledTool } from '../../pool/pool.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConnectOutcome } from '../builtins/built-in.ts';
import type { TurnEnd, Worker } from '../calls/call-context.ts';
import { NO_USAGE } from '../loop/loop.ts';
import { allServerStatus } from '../session/server-status.ts';
import type { Session } from '../session/session.ts';
import { connectedServers } from './pool-source.ts';
import { runTurn } from './run-agent.ts';
import { commandsOf, expandCommand } from './slash-commands.ts';

import { runSubAgent } from './sub-agent.ts';
import { promptNow } from './system-prompt.ts';
import { initMessage, Report, resultMessage } from './turn-report.ts';

/** How long a turn waits for servers that are still being dialled; those that come later are there in a later round. */
const PATIENCE_MS = 5_000;
/** How long a turn waits for servers that were lost and may be back. */
const WAKE_MS = 500;
/** How often a hook may send the agent on. */
const MOST_CONTINUATIONS = 8;

/** One message of the user, from `system/init` to `result`. */
export async function takeTurn(
  session: Session,
  given: readonly UserBlock[],
  uuid: string,
  turn: AbortController,
): Promise<void> {
  const since = performance.now();
  const { signal } = turn;
  // Counted from the dialling: a server that hangs delays one turn, not every one.
  const patience = PATIENCE_MS - (since - session.servers.dialledAt);
  if (patience > 0) await within(patience, session.servers.offered(), signal);
  await within(WAKE_MS, session.servers.wake(), signal);
  session.say(initMessage(initFacts(session)));
  tellCommands(session);
  const asked = await readPrompt(session, given, signal);
  const report = new Report(session);
  const done = 'blocks' in asked ? await run(session, asked.blocks, uuid, report, turn) : asked.end;
  const denials = [...done.denials, ...report.denials];
  report.end();
  session.say(
    resultMessage({
      ...done,
      denials,
      text: 'blocks' in asked ? report.text : asked.text,
      stopReason: report.stopReason,
      durationMs: performance.now() - since,
      modelMs: report.modelMs,
      modelUsage: session.modelUsage,
    }),
  );
}

/** What is said when a turn broke by a fault of ours: the program must not wait for ever. */
export function brokenTurn(fault: unknown): Frame {
  const end = { reason: 'failed' as const, fault: messageOf(fault), turns: 0, usage: NO_USAGE };
  return resultMessage({
    end,
    denials: [],
    text: '',
    stopReason: null,
    durationMs: 0,
    modelMs: 0,
    modelUsage: {},
  });
}

/** Servers' prompts come and go with them; programs know the commands of the beginning only. */
function tellCommands(session: Session): void {
  const commands = commandsOf(session);
  const names = commands.map(({ name }) => name).join();
  if (names === session.toldCommands) return;
  session.toldCommands = names;
  session.say({ type: 'system', subtype: 'commands_changed', commands });
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
    shelf: session.shelf,
    index: session.index,
    ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
    parentToolUseId: null,
    who: {},
    listed: () => session.servers.listed(),
    servers: () => session.servers.all,
    target: (server) => session.servers.target(server),
    makeRoom: conversation.makeRoom,
    beforeEnd: stopHooks(session, report),
    connectServer: (name) => connectServer(session, name),
    readable: () => connectedServers(session.servers),
    featuresOf: () => session.world.features,
    delegate: (call, request, signal) =>
      session.during(
        runSubAgent(
          call,
          request,
          {
            session: session.world,
            connect: session.connectWorld,
            modelName: () => session.modelName,
            report: (event, parent) => report.tell(event, parent),
            denied: (denials) => void report.denials.push(...denials),
            interrupt: () => turn.abort(),
          },
          signal,
        ),
      ),
  };
  return runTurn(
    worker,
    session.world,
    (event) => {
      conversation.observe(event, report.tell(event, null));
    },
    { signal: turn.signal, interrupt: () => turn.abort() },
  );
}

function stopHooks(session: Session, report: Report): NonNullable<Worker['beforeEnd']> {
  let continuations = 0;
  return async (signal) => {
    const fields = { stop_hook_active: continuations > 0, last_assistant_message: report.text };
    const { decision, reason, stop } = await session.hooks.run('Stop', fields, signal);
    const isSentOn = decision === 'deny' && stop === undefined && continuations++ < MOST_CONTINUATIONS;
    return isSentOn ? reason || 'Go on.' : undefined;
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
      const pool = session.pool();
      const isItsOwn = ({ origin }: PooledTool) => origin.kind === 'mcp' && origin.server === name;
      const searchable = session.shelf.divide(pool).searchable.filter(isItsOwn);
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
      return { kind: 'failed', fault: `it is ${state?.kind}` };
  }
}

function initFacts(session: Session) {
  const { options, servers } = session;
  return {
    cwd: options.workspace.cwd,
    model: session.modelName,
    tools: session.pool().tools.map(({ name }) => name),
    servers: allServerStatus(servers.all, options.configured).map(({ name, status, source }) => ({
      name,
      status,
      source,
    })),
    permissionMode: modeOf(session.world.rules.current()),
    version: options.version,
    commands: commandsOf(session).map(({ name }) => name),
    agents: Object.keys(session.agents),
  };
}

/** What goes to the model; or the end of the turn, if nothing does, and what the result says. */
type Asked = { readonly blocks: readonly UserBlock[] } | { readonly end: TurnEnd; readonly text: string };

/** What the user wants said to the model: a command becomes its prompt, hooks add to it or keep it back. */
async function readPrompt(
  session: Session,
  given: readonly UserBlock[],
  signal: AbortSignal,
): Promise<Asked> {
  if (given.length === 0) return failed('The message has no content');
  const text = given.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const started = await session.start(signal);
  const submitted = await session.hooks.run('UserPromptSubmit', { prompt: text }, signal);
  // A hook that was cut off has said nothing.
  if (signal.aborted && session.hooks.has('UserPromptSubmit')) return interrupted();
  const refusal = submitted.stop ?? (submitted.decision === 'deny' ? (submitted.reason ?? '') : undefined);
  if (refusal !== undefined) return done(`The prompt was held back by a hook: ${refusal}`);
  const own = await ownCommand(session, text, signal);
  if (own) return own;
  const expanded = text.startsWith('/') ? await expandCommand(text, session.world, signal) : undefined;
  if (expanded && 'fault' in expanded) return signal.aborted ? interrupted() : done(expanded.fault);
  const contexts = [started.additionalContext, submitted.additionalContext].filter((it) => it !== undefined);
  return {
    blocks: [...(expanded?.blocks ?? given), ...contexts.map((it) => ({ type: 'text' as const, text: it }))],
  };
}

/** Commands of the host itself; what each did, in words. */
async function ownCommand(session: Session, text: string, signal: AbortSignal): Promise<Asked | undefined> {
  const [, name, rest = ''] = /^\/(clear|compact)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  const { conversation } = session;
  if (name === 'clear') {
    conversation.clear();
    return done('The conversation was cleared.');
  }
  if (name !== 'compact') return undefined;
  try {
    const isShorter = await conversation.compact('manual', promptNow(session), signal, rest || undefined);
    return done(isShorter ? 'The conversation was made shorter.' : 'There was nothing to make shorter.');
  } catch (cause) {
    if (signal.aborted) return interrupted();
    throw cause;
  }
}

function done(text: string): Asked {
  return { end: { end: { reason: 'done', turns: 0, usage: NO_USAGE }, denials: [] }, text };
}

function interrupted(): Asked {
  return { end: { end: { reason: 'interrupted', turns: 0, usage: NO_USAGE }, denials: [] }, text: '' };
}

function failed(fault: string): Asked {
  return { end: { end: { reason: 'failed', fault, turns: 0, usage: NO_USAGE }, denials: [] }, text: '' };
}
