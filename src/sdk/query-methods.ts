import type { Frame } from '../protocol/control-frame.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { Conversation } from './conversation/conversation.ts';
import type { McpServerConfig, SdkPluginConfig, Settings } from './options/options.ts';

/** The state of a server in a running conversation. */
export type McpServerStatus = {
  name: string;
  status: 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
  serverInfo?: { name: string; version: string };
  error?: string;
  config?: Record<string, unknown>;
  scope?: string;
  source?: string;
  /** Why Toolplane's agent lists it as disabled: `pending` approval, `rejected`, `blocked`, `disabled` or `broken`. */
  configured?: string;
  tools?: { name: string; description?: string; annotations?: Record<string, boolean> }[];
};

/** The result of `setMcpServers()`. */
export type McpSetServersResult = { added: string[]; removed: string[]; errors: Record<string, string> };

/** Control requests to a running agent, one per method; a failure response rejects the promise. */
export class QueryMethods {
  protected readonly conversation: Conversation;

  constructor(conversation: Conversation) {
    this.conversation = conversation;
  }

  /**
   * Stops the running turn; the conversation continues. Returns the ids of queued messages if the agent reports
   * them.
   */
  async interrupt(): Promise<{ still_queued: string[] } | undefined> {
    const receipt = await this.#ask({ subtype: 'interrupt' });
    return Object.keys(receipt).length > 0 ? (receipt as { still_queued: string[] }) : undefined;
  }

  async setPermissionMode(mode: PermissionMode): Promise<void> {
    await this.#ask({ subtype: 'set_permission_mode', mode });
  }

  setMcpPermissionModeOverride(
    serverName: string,
    mode: 'default' | 'auto' | null,
  ): Promise<{ warning?: string }> {
    return this.#ask({ subtype: 'set_mcp_permission_mode_override', serverName, mode });
  }

  async setModel(model?: string): Promise<void> {
    await this.#ask({ subtype: 'set_model', model });
  }

  async setMaxThinkingTokens(
    maxThinkingTokens: number | null,
    thinkingDisplay?: 'summarized' | 'omitted' | 'highlights' | null,
  ): Promise<void> {
    await this.#ask({
      subtype: 'set_max_thinking_tokens',
      max_thinking_tokens: maxThinkingTokens,
      thinking_display: thinkingDisplay,
    });
  }

  async applyFlagSettings(settings: Settings): Promise<void> {
    await this.#ask({ subtype: 'apply_flag_settings', settings });
  }

  async updateSettings(source: 'localSettings' | 'userSettings', settings: Settings): Promise<void> {
    await this.#ask({ subtype: 'update_settings', source, settings });
  }

  /** The agent's response to `initialize`. */
  initializationResult(): Promise<Frame> {
    return this.conversation.initialized;
  }

  reinitialize(): Promise<Frame> {
    return this.conversation.reinitialize();
  }

  async supportedCommands(): Promise<Frame[]> {
    return (await this.conversation.initialized).commands as Frame[];
  }

  async supportedModels(): Promise<Frame[]> {
    return (await this.conversation.initialized).models as Frame[];
  }

  async supportedAgents(): Promise<Frame[]> {
    return (await this.conversation.initialized).agents as Frame[];
  }

  async accountInfo(): Promise<Frame> {
    return (await this.conversation.initialized).account as Frame;
  }

  async mcpServerStatus(): Promise<McpServerStatus[]> {
    const { mcpServers } = await this.#ask({ subtype: 'mcp_status' });
    return (mcpServers ?? []) as McpServerStatus[];
  }

  getContextUsage(options: { detail?: 'summary' | 'full' } = {}): Promise<Frame> {
    return this.#ask({ subtype: 'get_context_usage', detail: options.detail });
  }

  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(
    options: { skipBehaviors?: boolean } = {},
  ): Promise<Frame> {
    return this.#ask({ subtype: 'get_usage', skip_behaviors: options.skipBehaviors });
  }

  /** `null` if the agent refuses or has no such file. */
  async readFile(
    path: string,
    options: { maxBytes?: number; encoding?: 'utf-8' | 'base64' } = {},
  ): Promise<Frame | null> {
    try {
      return await this.#ask({
        subtype: 'read_file',
        path,
        max_bytes: options.maxBytes,
        encoding: options.encoding,
      });
    } catch (cause) {
      if (cause instanceof SdkError && cause.code === 'control-failed') return null;
      throw cause;
    }
  }

  reloadPlugins(
    options: { holdOnCacheImpact?: boolean; addPlugins?: SdkPluginConfig[]; refuseIfBusy?: boolean } = {},
  ): Promise<Frame> {
    return this.#ask({
      subtype: 'reload_plugins',
      hold_on_cache_impact: options.holdOnCacheImpact,
      add_plugins: options.addPlugins,
      refuse_if_busy: options.refuseIfBusy,
    });
  }

  reloadSkills(): Promise<Frame> {
    return this.#ask({ subtype: 'reload_skills' });
  }

  reloadOutputStyles(): Promise<Frame> {
    return this.#ask({ subtype: 'reload_output_styles' });
  }

  rewindFiles(userMessageId: string, options: { dryRun?: boolean } = {}): Promise<Frame> {
    return this.#ask({ subtype: 'rewind_files', user_message_id: userMessageId, dry_run: options.dryRun });
  }

  async seedReadState(path: string, mtime: number): Promise<void> {
    await this.#ask({ subtype: 'seed_read_state', path, mtime });
  }

  async reconnectMcpServer(serverName: string): Promise<void> {
    await this.#ask({ subtype: 'mcp_reconnect', serverName });
  }

  async toggleMcpServer(serverName: string, enabled: boolean): Promise<void> {
    await this.#ask({ subtype: 'mcp_toggle', serverName, enabled });
  }

  readMcpResource(serverName: string, uri: string): Promise<Frame> {
    return this.#ask({ subtype: 'mcp_read_resource', serverName, uri });
  }

  /** Replaces all servers that the program passed. `errors` lists the servers that failed to connect. */
  async setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult> {
    return (await this.conversation.setServers(servers)) as McpSetServersResult;
  }

  async stopTask(taskId: string): Promise<void> {
    await this.#ask({ subtype: 'stop_task', task_id: taskId });
  }

  async backgroundTasks(toolUseId?: string): Promise<boolean> {
    const { backgrounded } = await this.#ask({ subtype: 'background_tasks', tool_use_id: toolUseId });
    return backgrounded as boolean;
  }

  /** `undefined` members are left out on the wire. */
  #ask(body: Frame & { subtype: string }): Promise<Frame> {
    return this.conversation.request(body);
  }
}
