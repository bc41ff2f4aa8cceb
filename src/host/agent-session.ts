import { randomUUID } from 'node:crypto';
import { isRecord } from '../base/is-record.ts';
import { ControlChannel, type Reply } from '../control/channel.ts';
import type { AgentLink } from '../control/link.ts';
import type { UserBlock } from '../protocol/agent-message.ts';
import type { Frame } from '../protocol/control-frame.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import { PERMISSION_MODES } from '../protocol/permission.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { LoopEvent } from './agent/loop.ts';
import type { ConnectWorld, ServerEntry } from './connect/world.ts';
import { assistantMessage, initMessage, resultMessage, resultsMessage } from './messages.ts';
import type { Model, ModelMessage } from './model/model.ts';
import type { Workspace } from './permission/path.ts';
import type { Rule } from './permission/rule.ts';
import { ProgramPorts } from './program-ports.ts';
import { Servers, serverStatus } from './servers.ts';
import { poolOf, runTurn } from './turn.ts';

export type SessionOptions = {
  readonly model: Model;
  readonly modelName: string;
  readonly version: string;
  readonly workspace: Workspace;
  readonly rules: readonly Rule[];
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  readonly systemPrompt?: string;
  /** Servers the session dials itself. */
  readonly servers?: Readonly<Record<string, ServerEntry>>;
  readonly connect: Omit<ConnectWorld, 'openPort'>;
  readonly includePartialMessages?: boolean;
};

/** The far side of the control protocol: one agent that a program drives over a link, whoever wrote the program's SDK. */
export class AgentSession {
  readonly #options: SessionOptions;
  readonly #channel: ControlChannel;
  readonly #ports: ProgramPorts;
  readonly #servers: Servers;
  readonly #envelope = { session_id: randomUUID() };
  readonly #messages: ModelMessage[] = [];
  #permissionMode: PermissionMode;
  #modelName: string;
  #system: string;
  #turn: AbortController | undefined;
  #queue: Promise<void> = Promise.resolve();
  /** Settles when the program is gone and everything is closed. */
  readonly done: Promise<void>;

  constructor(link: AgentLink, options: SessionOptions) {
    this.#options = options;
    this.#permissionMode = options.permissionMode ?? 'default';
    this.#modelName = options.modelName;
    this.#system = options.systemPrompt ?? '';
    this.#ports = new ProgramPorts((body, signal) => this.#channel.request(body, { signal }));
    this.#servers = new Servers({ ...options.connect, openPort: (server) => this.#ports.open(server) });
    this.#servers.add(options.servers ?? {});
    this.#channel = new ControlChannel(link, {
      request: (subtype, body) => this.#serve(subtype, body),
      message: (message) => this.#receive(message),
    });
    this.done = this.#live(link);
  }

  async #live(link: AgentLink): Promise<void> {
    try {
      await this.#channel.done;
      await this.#queue;
    } finally {
      this.#turn?.abort();
      await this.#servers[Symbol.asyncDispose]();
      await link.close();
    }
  }

  #serve(subtype: string, body: Frame): Reply | Promise<Reply> {
    switch (subtype) {
      case 'initialize':
        return this.#initialize(body);
      case 'interrupt':
        this.#turn?.abort();
        return { still_queued: [] };
      case 'set_model':
        this.#modelName = typeof body.model === 'string' ? body.model : this.#options.modelName;
        return undefined;
      case 'set_permission_mode':
        return this.#setMode(body.mode);
      case 'mcp_status':
        return { mcpServers: serverStatus(this.#servers.states) };
      case 'mcp_message':
        this.#ports.deliver(String(body.server_name), body.message);
        return undefined;
      default:
        throw new SdkError('control-failed', `Unsupported control request subtype: ${subtype}`, {
          errorCode: 'unsupported_request',
        });
    }
  }

  #initialize(body: Frame): Frame {
    const names = Array.isArray(body.sdkMcpServers) ? body.sdkMcpServers.map(String) : [];
    this.#servers.add(Object.fromEntries(names.map((name) => [name, { type: 'sdk' as const, name }])));
    if (Array.isArray(body.systemPrompt)) this.#system = body.systemPrompt.map(String).join('\n\n');
    return {
      commands: [],
      agents: [],
      output_style: 'default',
      available_output_styles: ['default'],
      models: [],
      account: {},
    };
  }

  #setMode(mode: unknown): undefined {
    if (!(PERMISSION_MODES as readonly unknown[]).includes(mode) || mode === 'bypassPermissions') {
      throw new SdkError('control-failed', `Permission mode ${JSON.stringify(mode)} cannot be set here`);
    }
    this.#permissionMode = mode as PermissionMode;
    return undefined;
  }

  #receive(message: Frame): void {
    if (message.type !== 'user' || !isRecord(message.message)) return;
    const { content } = message.message;
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    this.#queue = this.#queue.then(() => this.#takeTurn(blocks as UserBlock[]));
  }

  async #takeTurn(content: UserBlock[]): Promise<void> {
    await this.#servers.ready();
    const since = performance.now();
    const turn = new AbortController();
    this.#turn = turn;
    let text = '';
    this.#say(initMessage(this.#facts(), this.#envelope));
    this.#messages.push({ role: 'user', content });
    const facts = {
      ...this.#options,
      channel: this.#channel,
      servers: this.#servers,
      modelName: this.#modelName,
      system: this.#system,
      mode: () => this.#permissionMode,
      isOwn: (server: string) => this.#ports.has(server),
    };
    const { end, denials } = await runTurn(
      this.#messages,
      facts,
      (event) => {
        if (event.kind === 'replied') text = textOf(event) ?? text;
        this.#report(event);
      },
      turn.signal,
    );
    this.#turn = undefined;
    const durationMs = performance.now() - since;
    this.#say(resultMessage({ end, text, durationMs, denials }, this.#envelope));
  }

  #report(event: LoopEvent): void {
    if (event.kind === 'replied' && event.message.content.length > 0) {
      this.#say(assistantMessage(event.message, this.#envelope));
    }
    if (event.kind === 'results-added') this.#say(resultsMessage(event.content, this.#envelope));
    if (event.kind === 'streamed' && this.#options.includePartialMessages) {
      const { event: raw } = event;
      this.#say({
        type: 'stream_event',
        event: raw,
        parent_tool_use_id: null,
        ...this.#envelope,
        uuid: randomUUID(),
      });
    }
  }

  #facts() {
    return {
      cwd: this.#options.workspace.cwd,
      model: this.#modelName,
      tools: poolOf(this.#servers, this.#options.model).tools.map(({ name }) => name),
      servers: serverStatus(this.#servers.states).map(({ name, status }) => ({ name, status })),
      permissionMode: this.#permissionMode,
      version: this.#options.version,
    };
  }

  #say(message: Frame): void {
    this.#channel.send(message).catch(() => {});
  }
}

function textOf({ message }: Extract<LoopEvent, { kind: 'replied' }>): string | undefined {
  const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length > 0 ? texts.join('') : undefined;
}
