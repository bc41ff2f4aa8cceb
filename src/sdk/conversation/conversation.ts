import { Queue } from '../../base/async/queue.ts';
import { startTimer } from '../../base/async/timers.ts';
import { type ControlAnswer, ControlChannel } from '../../control/channel.ts';
import { type AgentLink, logFrames } from '../../control/link.ts';

import type { SDKMessage, SDKUserMessage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { AbortError, messageOf, SdkError } from '../../protocol/sdk-error.ts';
import { replaceReply, serveAgent } from '../handlers/agent-requests.ts';
import { Bridge } from '../handlers/bridge.ts';
import { type RegisteredHooks, registerHooks } from '../handlers/hooks.ts';
import { checkOptions, optionWarnings } from '../options/check-options.ts';
import { buildEnvironment, type Environment, launchFlags } from '../options/launch-flags.ts';
import {
  describeServers,
  prepareServersForCli,
  type SplitServers,
  splitServers,
} from '../options/mcp-servers.ts';
import type { LaunchPlan, McpServerConfig, Options } from '../options/options.ts';
import {
  buildInitialize,
  checkSupport,
  gatherManifests,
  initializeLimit,
  type Manifest,
} from './initialize.ts';
import { exitReason, explainExit, failedLink, isDefaultAgent, openLink } from './open-link.ts';
import { openTelemetry } from './telemetry.ts';
import { ToolUses } from './tool-uses.ts';
import { endingOf, INITIAL_TURN_STATE, nextTurnState, type TurnEvent, type TurnState } from './turn-state.ts';

/** One agent and its requests to this process: the part that `query()` and `AgentClient` share. */
export class Conversation {
  readonly messages = new MessageQueue();
  readonly #options: Options;
  readonly #link: AgentLink;
  readonly #channel: ControlChannel;
  readonly #bridge: Bridge;
  readonly #hooks: RegisteredHooks;
  readonly #toolUses: ToolUses;
  readonly #initializeMs: number;
  readonly #sentIds = new Set<string>();
  #servers: SplitServers;
  #turn: TurnState = INITIAL_TURN_STATE;
  #lastResult: Frame | undefined;
  #aborted: AbortError | undefined;
  #confirming: Promise<void> | undefined;
  #changing: Promise<unknown> = Promise.resolve();
  #isReady = false;
  #isClosed = false;
  /** The agent's response to `initialize`. */
  readonly initialized: Promise<Frame>;

  /** `initializeTimeoutMs` may only raise the limit for the agent's first answer. */
  constructor(given: Options | null | undefined, deps: SdkDeps, initializeTimeoutMs = 0) {
    const options = checkOptions(given ?? {});
    for (const warning of optionWarnings(options)) deps.warn(warning);
    this.#options = options;
    this.#servers = splitServers(options.mcpServers);
    this.#hooks = registerHooks(options.hooks);
    const telemetry = openTelemetry(deps.version);
    this.#toolUses = new ToolUses([
      ...(options.onToolUse ? [{ finished: guarded('onToolUse', options.onToolUse, deps.warn) }] : []),
      ...(telemetry ? [telemetry.watcher] : []),
    ]);
    this.#bridge = new Bridge(this.#servers.sdk, {
      assigns: options.assigns ?? {},
      send: (server, message) => {
        this.#channel.post({ subtype: 'mcp_message', server_name: server, message: message as Frame });
        return this.#link.room?.();
      },
      observer: telemetry?.observer,
    });
    const inherited = deps.environment();
    const launch: LaunchPlan = {
      flags: launchFlags(options, configText(this.#servers, options)),
      cwd: options.cwd,
      env: buildEnvironment(options, inherited),
    };
    telemetry?.inject(launch.env);
    this.#initializeMs = Math.max(
      initializeLimit(inherited.CLAUDE_CODE_STREAM_CLOSE_TIMEOUT),
      initializeTimeoutMs,
    );
    const isWatched = deps.debug || options.debug === true;
    const stderr = options.stderr && guarded('stderr', options.stderr, deps.warn);
    const note = (text: string) => stderr?.(`[toolplane] ${text}\n`);
    const onNoise = (line: string) =>
      note(`ignored a line of the agent that is not a control frame: ${line}`);
    const link = owned(this.#bridge, options, () =>
      options.abortController?.signal.aborted
        ? failedLink(new AbortError(ABORTED))
        : openLink(options, launch, deps.openDefault, { onNoise, onStderr: stderr }),
    );
    this.#link = isWatched ? logFrames(link, deps.print) : link;
    const context = { bridge: this.#bridge, hooks: this.#hooks, options };
    this.#channel = new ControlChannel(this.#link, {
      request: (subtype, body, served) => serveAgent(context, subtype, body, served),
      message: (message) => this.#receive(message),
      replace: (subtype, body, cause) => replaceReply(context, subtype, body, cause),
      fault: note,
    });
    this.#channel.done.then(
      () => this.#finish(undefined),
      (cause) => this.#finish(cause),
    );
    options.abortController?.signal.addEventListener('abort', this.#onAbort, { once: true });
    const withManifests = inherited.CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS !== '1';
    this.initialized = this.#initialize(withManifests).catch((cause) => {
      throw this.#aborted ?? explainExit(cause, this.#lastResult);
    });
    this.initialized.catch((cause) => this.fail(cause));
  }

  /** What the agent will answer to a message: nothing, if a message with the same id was sent before. */
  expects({ uuid, shouldQuery }: SDKUserMessage): 'result' | 'empty-result' | 'nothing' {
    if (uuid !== undefined && this.#sentIds.has(uuid)) return 'nothing';
    return shouldQuery === false ? 'empty-result' : 'result';
  }

  /** Sends a user message once the agent is initialized. Resolves when the link has room for more. */
  async send(message: SDKUserMessage): Promise<void> {
    await this.initialized;
    const expected = this.expects(message);
    if (message.uuid !== undefined) this.#sentIds.add(message.uuid);
    if (expected !== 'nothing') this.#step({ kind: 'sent', isNote: expected === 'empty-result' });
    await this.#channel.send(this.#options.verbatimPrompts ? { ...message, client_composed: true } : message);
  }

  /** Signals that no more messages will be sent: the agent ends when it is done. */
  endInput(): void {
    this.#step({ kind: 'input-ended' });
  }

  /** Sends a control request; returns the body of the response. */
  async request(body: Frame & { subtype: string }): Promise<Frame> {
    this.#assertOpen();
    await this.initialized;
    return (await this.#request(body, this.#options.controlTimeoutMs ?? 60_000)).response;
  }

  /** Sends `initialize` again, without manifests; requests the agent still waits on are delivered again. */
  async reinitialize(): Promise<Frame> {
    await this.initialized;
    return this.#sendInitialize(new Map());
  }

  /**
   * Replaces the servers of the running agent, one change at a time. New in-process servers are available before the agent
   * is informed, removed ones until the agent has agreed; of two with the same key, the new one is used immediately.
   */
  setServers(servers: Record<string, McpServerConfig>): Promise<Frame> {
    const change = this.#changing.then(() => this.#setServers(servers));
    this.#changing = change.catch(() => {});
    return change;
  }

  async #setServers(servers: Record<string, McpServerConfig>): Promise<Frame> {
    const split = splitServers(servers);
    this.#bridge.set(new Map([...this.#servers.sdk, ...split.sdk]));
    try {
      const result = await this.request({ subtype: 'mcp_set_servers', servers: describeServers(split) });
      this.#servers = split;
      return result;
    } finally {
      this.#bridge.set(this.#servers.sdk);
    }
  }

  /** Closes the agent; resolves when its process has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.messages.end();
    this.#bridge.close();
    await this.#link.close();
  }

  /**
   * Aborts because of an error of the program's own input: the agent gets no more input, and a short time to finish the
   * turn. Iterating yields the messages of this time, then throws.
   */
  abort(cause: unknown): void {
    if (this.#isClosed) return;
    this.#aborted = new AbortError('Operation aborted', { cause });
    const timer = startTimer(ABORT_GRACE_MS, () => this.fail(new AbortError(ABORTED, { cause })));
    this.#channel.done.catch(() => {}).finally(() => clearTimeout(timer));
    this.#link.end();
  }

  /** Closes the agent; iterating then throws this error. */
  fail(cause: unknown): void {
    this.messages.fail(cause);
    this.close().catch(() => {});
  }

  /** A request that is pending when the caller aborts rejects with the `AbortError`, a later one with the code `closed`. */
  async #request(body: Frame & { subtype: string }, timeoutMs: number): Promise<ControlAnswer> {
    this.#assertOpen();
    try {
      return await this.#channel.request(body, { timeoutMs });
    } catch (cause) {
      throw this.#aborted ?? cause;
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new SdkError('closed', 'Query closed before response received');
  }

  async #initialize(withManifests: boolean): Promise<Frame> {
    const which = isDefaultAgent(this.#options) ? 'ours' : 'all';
    return this.#sendInitialize(
      withManifests ? await gatherManifests(this.#servers, this.#bridge, which) : new Map(),
    );
  }

  async #sendInitialize(manifests: ReadonlyMap<string, Manifest>): Promise<Frame> {
    const body = buildInitialize(this.#options, this.#hooks.wire, this.#servers, manifests);
    const { response, extra } = await this.#request(body, this.#initializeMs);
    checkSupport(this.#options, response);
    this.#isReady = true;
    for (const pending of Object.values(extra)) {
      if (Array.isArray(pending)) for (const frame of pending) this.#channel.redeliver(frame);
    }
    return response;
  }

  #receive(message: Frame): void {
    this.#noteResult(message);
    this.#toolUses.note(message);
    const isOwnBusiness = message.subtype === 'session_state_changed' && message.sdk_host_only === true;
    if (!isOwnBusiness) this.messages.receive(message as unknown as SDKMessage, this.#link);
    this.#step({ kind: 'received', message });
  }

  /** Keeps the last result until the agent does something else, which it may fail at for another reason. */
  #noteResult(message: Frame): void {
    if (message.type === 'result') this.#lastResult = message;
    else if (!(message.type === 'system' && BESIDE_TURNS.has(String(message.subtype))))
      this.#lastResult = undefined;
  }

  #step(event: TurnEvent): void {
    this.#turn = nextTurnState(this.#turn, event);
    const end = endingOf(this.#turn);
    if (end === 'over') this.#link.end();
    else if (end === 'doubtful') this.#confirm();
  }

  /** Sends a request to confirm that the agent has read all messages before it: frames are read in order. */
  #confirm(): void {
    const step = () => {
      this.#confirming = undefined;
      this.#step({ kind: 'confirmed' });
    };
    this.#confirming ??= this.request({ subtype: 'mcp_status' }).then(step, step);
  }

  readonly #onAbort = (): void => {
    this.#aborted = new AbortError(ABORTED);
    this.fail(this.#aborted);
  };

  #finish(cause: unknown): void {
    this.#options.abortController?.signal.removeEventListener('abort', this.#onAbort);
    this.#bridge.close();
    const reason = exitReason({
      cause: this.#aborted ?? cause,
      isExpected: this.#isClosed,
      isReady: this.#isReady,
      turn: this.#turn,
      lastResult: this.#lastResult,
    });
    this.#isClosed = true;
    if (reason === undefined) this.messages.end();
    else this.messages.fail(reason);
    this.#link.close().catch(() => {});
  }
}

/** System messages that do not belong to a turn. */
const BESIDE_TURNS: ReadonlySet<string> = new Set([
  'session_state_changed',
  'post_turn_summary',
  'task_summary',
  'session_metadata',
  'session_writes_lost',
  'plugin_install',
]);

/** How long the agent may go on after a prompt stream has failed, as with the official package. */
const ABORT_GRACE_MS = 2_000;
const ABORTED = 'Claude Code process aborted by user';

/** Closes the bridge if opening the link throws. A local process that cannot be started is reported to the first reader. */
function owned(bridge: Bridge, options: Options, open: () => AgentLink): AgentLink {
  try {
    return open();
  } catch (fault) {
    const isLocal = !options.link && !options.spawnClaudeCodeProcess && !isDefaultAgent(options);
    if (isLocal && fault instanceof SdkError && fault.code === 'spawn-failed') return failedLink(fault);
    bridge.close();
    throw fault;
  }
}

function configText(servers: SplitServers, options: Options): string | undefined {
  const prepared = prepareServersForCli(servers, { sdkServersOnArgv: options.sdkServersOnArgv === true });
  return prepared && JSON.stringify({ mcpServers: prepared });
}

/** The dependencies of the SDK half on its environment. */
export type SdkDeps = {
  readonly version: string;
  /** The environment that a started agent inherits, read for each conversation. */
  environment(): Environment;
  /** The agent when the options name none. */
  openDefault(launch: LaunchPlan, options: Options): AgentLink;
  warn(warning: { code: string; message: string }): void;
  /** Prints frames for debugging. */
  print(line: string): void;
  /** Whether frames are printed regardless of the options. */
  readonly debug: boolean;
};

/** The number of unread messages above which the agent is slowed down. */
const MAX_UNREAD = 1000;

/**
 * The messages of a conversation that the program has not read yet. Beyond `MAX_UNREAD` only the latest progress of
 * each call is kept, and an agent in this process waits before it reads more from its model; no other message is lost.
 */
class MessageQueue extends Queue<SDKMessage> {
  constructor() {
    super({ limit: MAX_UNREAD, keyOf: progressKey });
  }

  /** Adds a message that arrived over `link`. */
  receive(message: SDKMessage, link: AgentLink): void {
    this.push(message);
    if (this.unread >= MAX_UNREAD) link.hold?.(this.below(MAX_UNREAD / 2));
  }
}

function progressKey(message: SDKMessage): string | undefined {
  return message.type === 'tool_progress' ? String(message.tool_use_id) : undefined;
}

/** Wraps a listener, asynchronous or not, so that its errors become a warning. */
export function guarded<T>(
  option: string,
  listener: (value: T) => void,
  warn: (warning: { code: string; message: string }) => void,
): (value: T) => void {
  return (value) => {
    const listen = async (): Promise<void> => listener(value);
    listen().catch((cause) => {
      warn({ code: 'TOOLPLANE_LISTENER_THREW', message: `options.${option} threw: ${messageOf(cause)}` });
    });
  };
}
