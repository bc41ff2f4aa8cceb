import { firstName, resolveModelName, selectedModel } from '../../agent/launch/model-name.ts';
import { isRecord } from '../../base/json-value.ts';
import { readConfiguration } from '../../config/configuration.ts';
import { sdkDeps } from '../../entry/sdk-deps.ts';
import type { SDKMessage, SDKResultMessage, SDKUserMessage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { flagName } from '../../protocol/launch-flag.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import { type AgentClient, createAgentClient } from '../../sdk/agent-client.ts';
import { isUnsolicited } from '../../sdk/conversation/turn-state.ts';
import type { Options } from '../../sdk/options/options.ts';
import { cliContext } from '../host/named-servers.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type ServerHealth, serverFaults, serversOf } from './view.ts';

export type OpenAgent = (options: Options) => Promise<AgentClient>;

/** An agent whose messages are read continuously, also between turns. */
export class ChatConversation implements AsyncDisposable {
  readonly client: AgentClient;
  readonly #pump: Promise<void>;
  #turn: PromiseWithResolvers<SDKResultMessage> | undefined;
  #end: { cause: unknown } | undefined;

  private constructor(client: AgentClient, onMessage: (message: SDKMessage) => void) {
    this.client = client;
    this.#pump = this.#read(onMessage);
  }

  static async open(
    open: OpenAgent,
    options: Options,
    onMessage: (message: SDKMessage) => void,
  ): Promise<ChatConversation> {
    return new ChatConversation(await open(options), onMessage);
  }

  /** Whether a turn that `turn` started has no result yet. */
  get isInTurn(): boolean {
    return this.#turn !== undefined;
  }

  /** Runs one turn and returns its result. One turn at a time. */
  async turn(prompt: string | SDKUserMessage): Promise<SDKResultMessage> {
    if (this.#end) throw this.#end.cause;
    const turn = Promise.withResolvers<SDKResultMessage>();
    turn.promise.catch(() => {});
    this.#turn = turn;
    try {
      await this.client.send(prompt);
      return await turn.promise;
    } finally {
      this.#turn = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.#pump;
  }

  async #read(onMessage: (message: SDKMessage) => void): Promise<void> {
    let cause: unknown = new SdkError('closed', 'The agent has stopped; start the chat again');
    try {
      for await (const message of this.client.messages()) {
        onMessage(message);
        if (message.type !== 'result' || isUnsolicited(message as unknown as Frame)) continue;
        this.#turn?.resolve(message);
        this.#turn = undefined;
      }
    } catch (thrown) {
      cause = thrown;
    }
    this.#end = { cause };
    this.#turn?.reject(cause);
  }
}

/**
 * Whether the agent sends a request to the model or streams its reply, outside of sub-agents. `init` does not show that:
 * the agent also sends it for a message that starts no turn.
 */
export function isOfModelRequest(message: SDKMessage): boolean {
  if (message.type === 'stream_event') return message.parent_tool_use_id === null;
  return message.type === 'system' && message.subtype === 'status' && message.status === 'requesting';
}

/** The clock of the running turn. */
export class Turn {
  readonly #terminal: Pick<Terminal, 'every' | 'now'>;
  readonly #refresh: () => void;
  #ticking: Disposable | undefined;
  /** When it began; undefined if no turn runs. */
  since: number | undefined;
  /** Whether it is being interrupted. */
  isStopping = false;

  constructor(terminal: Pick<Terminal, 'every' | 'now'>, refresh: () => void) {
    this.#terminal = terminal;
    this.#refresh = refresh;
  }

  get isInterruptible(): boolean {
    return this.since !== undefined && !this.isStopping;
  }

  begin(): void {
    this.end();
    this.since = this.#terminal.now();
    this.#ticking = this.#terminal.every(1000, this.#refresh);
    this.#refresh();
  }

  end(): void {
    if (this.since === undefined) return;
    this.#ticking?.[Symbol.dispose]();
    this.#ticking = undefined;
    this.since = undefined;
    this.isStopping = false;
    this.#refresh();
  }
}

/** Opens an agent for a command, without warnings that address programmers. */
export function openAgent(options: Options): Promise<AgentClient> {
  return createAgentClient({ ...sdkDeps(flagName), warn: () => {} })(options);
}

/** Why no model is configured, naming the settings that were checked; `undefined` if one is. */
export async function missingModel(
  options: Pick<Options, 'model' | 'settings' | 'settingSources' | 'pathToClaudeCodeExecutable'>,
  env: NodeJS.ProcessEnv,
  cwd?: string,
): Promise<string | undefined> {
  // Another agent has its own settings, and a settings file may name a model and its key.
  if (options.pathToClaudeCodeExecutable !== undefined || options.settings !== undefined) return undefined;
  if (missingIn(options.model, env) === undefined) return undefined;
  const { settingSources: scopes } = options;
  const { settings } = await readConfiguration(cliContext(env, cwd), scopes ? { scopes } : {});
  const merged = { ...env, ...settings.env };
  return missingIn(selectedModel(options.model, settings, merged), merged);
}

function missingIn(model: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const place = resolveModelName(firstName(model, env.TOOLPLANE_MODEL, env.ANTHROPIC_MODEL), env);
  return place.kind === 'missing' ? place.lookedFor : undefined;
}

/** Reports servers that cannot be used, each failure once, from before the turn until its end. */
export class ServerWatch {
  readonly #client: Pick<AgentClient, 'mcpServerStatus'>;
  readonly #report: (line: string) => void;
  #faults: Readonly<Record<string, string>> = {};
  #named: readonly ServerHealth[] = [];
  /** The tools at the start of the turn. */
  #tools: readonly string[] = [];
  #asking: Promise<unknown> = Promise.resolve();

  constructor(client: Pick<AgentClient, 'mcpServerStatus'>, report: (line: string) => void) {
    this.#client = client;
    this.#report = report;
  }

  received(message: SDKMessage): void {
    if (message.type !== 'system' || message.subtype !== 'init') return;
    this.#named = serversOf(message);
    this.#tools = Array.isArray(message.tools) ? message.tools.map(String) : [];
    if (this.#named.some(hasFailed)) this.#asking = this.#ask();
  }

  /** Reports the failures so far, before the first turn. */
  async started(): Promise<void> {
    await this.#ask();
  }

  /** Resolves when every failure is reported, after the turn. */
  async settled(): Promise<void> {
    await this.#asking;
    if (!this.#named.some(({ status }) => status === 'pending')) return;
    const servers = await this.#ask();
    for (const { name } of servers.filter((it) => isLate(it) && !this.#isKnown(it)))
      this.#report(
        `server ${name} did not connect before the turn ended, so the model could not use its tools`,
      );
  }

  /** Whether cached tools of the server were offered: a call would have waited for the server. */
  #isKnown({ name }: ServerHealth): boolean {
    return this.#tools.some((tool) => tool.startsWith(mcpToolName(name, '')));
  }

  async #ask(): Promise<readonly ServerHealth[]> {
    // If the request fails, the servers of the init message are reported, without details.
    const servers = await this.#client.mcpServerStatus().catch(() => this.#named);
    const { faults, lines } = serverFaults(this.#faults, servers);
    this.#faults = faults;
    for (const line of lines) this.#report(line);
    return servers;
  }
}

/** Whether a server is still connecting. An on-demand server is idle until the model connects it. */
function isLate(server: ServerHealth & { readonly config?: unknown }): boolean {
  const isOnDemand = isRecord(server.config) && server.config.start === 'on-demand';
  return server.status === 'pending' && !isOnDemand;
}

function hasFailed({ status }: ServerHealth): boolean {
  return status !== 'connected' && status !== 'pending' && status !== 'disabled';
}
