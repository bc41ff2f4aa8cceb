import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRecord } from '../base/is-record.ts';
import { ControlChannel } from '../control/channel.ts';
import type { AgentLink } from '../control/link.ts';
import type { Usage, UserBlock } from '../protocol/agent-message.ts';
import type { Frame } from '../protocol/control-frame.ts';
import type { LoopEvent } from './agent/loop.ts';
import { type AgentDefinition, GENERAL_PURPOSE } from './agent-definition.ts';
import { FileMemory } from './builtin/file-memory.ts';
import { BUILT_INS } from './builtin/table.ts';
import { WakeQueue } from './builtin/wake-queue.ts';
import type { ConnectWorld } from './connect/world.ts';
import { serveRequest } from './control-requests.ts';
import { Conversation } from './conversation.ts';
import type { HookEffect } from './hook/hook-effect.ts';
import { SessionHooks } from './hook/session-hooks.ts';
import { spawnShell } from './hook/spawn-shell.ts';
import { memoryRuleStore, modeOf } from './permission/rule-store.ts';
import type { Pool } from './pool/assemble.ts';
import { poolSource } from './pool-cache.ts';
import { programAsker } from './program-asker.ts';
import { ProgramPorts } from './program-ports.ts';
import { saveFile } from './result/save-file.ts';
import { offerTo } from './server-offers.ts';
import { policyRules } from './server-policy.ts';
import { Servers } from './servers.ts';
import type { Session } from './session.ts';
import type { SessionOptions } from './session-options.ts';
import type { SessionWorld } from './session-world.ts';
import { StateTeller } from './state-teller.ts';
import { takeTurn } from './take-turn.ts';

export type { SessionOptions } from './session-options.ts';

/** How long hooks may take when everything else is over. */
const FAREWELL_MS = 1_500;

type Queued = { readonly content: readonly UserBlock[]; readonly uuid: string };

/** The far side of the control protocol: one agent that a program drives over a link, whoever wrote the program's SDK. */
export class AgentSession implements Session {
  readonly options: SessionOptions;
  readonly id: string;
  readonly channel: ControlChannel;
  readonly ports: ProgramPorts;
  readonly servers: Servers;
  readonly connectWorld: ConnectWorld;
  readonly hooks: SessionHooks;
  readonly conversation: Conversation;
  readonly world: SessionWorld;
  readonly pool: () => Pool;
  readonly state: StateTeller;
  readonly modelUsage: Record<string, Usage> = {};
  readonly agents: Record<string, AgentDefinition>;
  readonly #queue: Queued[] = [];
  modelName: string;
  systemPrompt: string;
  appendSystemPrompt: string;
  readonly #ended = Promise.withResolvers<void>();
  #isStarted = false;
  #turn: AbortController | undefined;
  #working: Promise<void> | undefined;
  /** Settles when the program is gone and everything is closed. */
  readonly done: Promise<void>;

  constructor(link: AgentLink, options: SessionOptions) {
    this.options = options;
    this.id = options.sessionId ?? randomUUID();
    this.modelName = options.modelName;
    this.systemPrompt = options.systemPrompt ?? '';
    this.appendSystemPrompt = options.appendSystemPrompt ?? '';
    this.agents = { ...GENERAL_PURPOSE, ...options.agents };
    this.state = new StateTeller((state) => {
      if (options.tellsState) this.say({ type: 'system', subtype: 'session_state_changed', state });
    });
    this.ports = new ProgramPorts((body, signal) => this.channel.request(body, { signal }));
    this.hooks = this.#makeHooks();
    this.connectWorld = {
      ...options.connect,
      openPort: (server) => this.ports.open(server),
      offerTo: (server, entry) =>
        offerTo(server, entry, {
          channel: () => this.channel,
          hooks: this.hooks,
          model: options.model,
          modelName: () => this.modelName,
          cwd: options.workspace.cwd,
          waiting: (work) => this.state.waiting(work),
        }),
    };
    this.servers = new Servers(this.connectWorld);
    this.servers.add(options.servers ?? {}, 'config');
    this.conversation = new Conversation({
      model: options.model,
      modelName: () => this.modelName,
      hooks: this.hooks,
      transcript: options.transcript,
      messages: options.messages ?? [],
      say: (message) => this.say(message),
    });
    this.channel = new ControlChannel(link, {
      request: (subtype, body) => serveRequest(this, subtype, body),
      message: (message) => this.#receive(message),
    });
    this.world = this.#makeWorld();
    this.pool = poolSource(this.world, {});
    this.done = this.#live(link);
  }

  /** A message for the program. */
  say(message: Frame): void {
    const sent = { ...message, session_id: this.id, uuid: message.uuid ?? randomUUID() };
    this.channel.send(sent).catch(() => {});
  }

  /** Ends the running turn; those that wait run after it. Gives the ids of those. */
  interrupt(): string[] {
    this.#turn?.abort();
    return this.#queue.map(({ uuid }) => uuid);
  }

  /** Ends as if the program had gone. */
  end(): void {
    this.#ended.resolve();
  }

  /** What hooks have to say about the beginning; nothing the second time. */
  async start(signal: AbortSignal): Promise<HookEffect> {
    if (this.#isStarted) return {};
    this.#isStarted = true;
    const source = this.options.messages?.length ? 'resume' : 'startup';
    return this.hooks.run('SessionStart', { source }, signal);
  }

  #receive(message: Frame): void {
    if (message.type !== 'user' || !isRecord(message.message)) return;
    const { content } = message.message;
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const uuid = typeof message.uuid === 'string' ? message.uuid : randomUUID();
    this.#queue.push({ content: (Array.isArray(blocks) ? blocks : []) as UserBlock[], uuid });
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      this.#turn = new AbortController();
      this.state.enter('running');
      await takeTurn(this, next.content, next.uuid, this.#turn);
      this.#turn = undefined;
      if (this.#queue.length === 0) this.state.enter('idle');
    }
    this.#working = undefined;
  }

  async #live(link: AgentLink): Promise<void> {
    try {
      await Promise.race([this.channel.done, this.#ended.promise]);
      await this.#working;
    } finally {
      this.#turn?.abort();
      await this.hooks.run('SessionEnd', { reason: 'other' }, AbortSignal.timeout(FAREWELL_MS));
      await this.servers[Symbol.asyncDispose]();
      await this.options.transcript?.[Symbol.asyncDispose]();
      await link.close();
    }
  }

  #makeHooks(): SessionHooks {
    const { workspace, connect, hooks = [], transcript, note } = this.options;
    return new SessionHooks({
      hooks,
      base: () => ({
        session_id: this.id,
        transcript_path: transcript?.path ?? '',
        cwd: workspace.cwd,
        permission_mode: modeOf(this.world.rules.current()),
      }),
      world: {
        callback: async (id, input, toolUseId, signal) => {
          const body = {
            subtype: 'hook_callback',
            callback_id: id,
            input,
            tool_use_id: toolUseId ?? randomUUID(),
          };
          return (await this.channel.request(body, { signal })).response;
        },
        spawn: spawnShell({ cwd: workspace.cwd, env: { ...connect.env } }),
      },
      onFailure: ({ hook, message }) => note?.(`a ${hook.event} hook failed: ${message}`),
    });
  }

  #makeWorld(): SessionWorld {
    const { options, servers, state } = this;
    const { workspace, rules, permissionMode, asksProgram = true, askers = [], builtIns } = options;
    const store = memoryRuleStore({
      rules,
      modes: permissionMode ? { cliArg: permissionMode } : {},
      directories: workspace.directories.map((path) => ({ path, source: 'cliArg' as const })),
    });
    const provenance = (name: string) => ({
      name,
      source: servers.all.get(name)?.origin === 'sdk' ? 'sdk' : 'dynamic',
    });
    const resultsDirectory = options.resultsDirectory ?? join(tmpdir(), `toolplane-${this.id}`);
    return {
      model: options.model,
      servers,
      hooks: this.hooks,
      rules: store,
      policyRules: () => policyRules(servers.all),
      mayBypass: options.mayBypass === true,
      askers: [...(asksProgram ? [programAsker(this.channel, provenance)] : []), ...askers],
      builtIns: BUILT_INS.filter(({ listed }) => !builtIns || builtIns.includes(listed.name)),
      agents: this.agents,
      isLeadOnly: options.leadOnly === true,
      workspace: () => ({ ...workspace, directories: store.current().directories.map(({ path }) => path) }),
      env: options.connect.env,
      files: new FileMemory(),
      wake: new WakeQueue(),
      save: (data, mimeType) => saveFile(resultsDirectory, data, mimeType),
      provenance,
      say: (message) => this.say(message),
      waiting: (work) => state.waiting(work),
    };
  }

  count(event: LoopEvent): void {
    if (event.kind !== 'replied') return;
    const { model, usage } = event.message;
    const before = this.modelUsage[model];
    const sum: Usage = { ...usage };
    for (const [name, value] of Object.entries(before ?? {})) {
      if (typeof value === 'number') sum[name] = value + ((usage[name] as number | undefined) ?? 0);
    }
    this.modelUsage[model] = sum;
  }
}
