import { firstName, resolveModelName } from '../../agent/launch/model-name.ts';
import { sdkDeps } from '../../entry/sdk-deps.ts';
import type { SDKMessage, SDKResultMessage, SDKUserMessage } from '../../protocol/agent-message.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { type AgentClient, createAgentClient } from '../../sdk/agent-client.ts';
import type { Options } from '../../sdk/options/options.ts';

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
        if (message.type === 'result') this.#turn?.resolve(message);
      }
    } catch (thrown) {
      cause = thrown;
    }
    this.#end = { cause };
    this.#turn?.reject(cause);
  }
}

/** Opens an agent for a command, without warnings that address programmers. */
export function openAgent(options: Options): Promise<AgentClient> {
  return createAgentClient({ ...sdkDeps(), warn: () => {} })(options);
}

/** Why no model is configured, naming the settings that were checked; `undefined` if one is. */
export function missingModel(
  options: Pick<Options, 'model' | 'settings' | 'pathToClaudeCodeExecutable'>,
  env: NodeJS.ProcessEnv,
): string | undefined {
  // Another agent has its own settings, and a settings file may name a model and its key.
  if (options.pathToClaudeCodeExecutable !== undefined || options.settings !== undefined) return undefined;
  const place = resolveModelName(firstName(options.model, env.TOOLPLANE_MODEL, env.ANTHROPIC_MODEL), env);
  return place.kind === 'missing' ? place.lookedFor : undefined;
}
