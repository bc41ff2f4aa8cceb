import type { Frame } from '../protocol/control-frame.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { AccountInfo, ModelInfo, SlashCommand } from '../protocol/system-message.ts';
import type {
  AgentInfo,
  McpServerStatus,
  McpSetServersResult,
  RewindFilesResult,
  SDKControlGetContextUsageResponse,
  SDKControlGetUsageResponse,
  SDKControlInitializeResponse,
  SDKControlInterruptResponse,
  SDKControlMcpAuthenticateResponse,
  SDKControlMcpReadResourceResponse,
  SDKControlReadFileResponse,
  SDKControlReloadOutputStylesResponse,
  SDKControlReloadPluginsResponse,
  SDKControlReloadSkillsResponse,
} from './control-responses.ts';
import type { Conversation } from './conversation/conversation.ts';
import type { McpServerConfig, SdkPluginConfig } from './options/options.ts';
import type { FlagSettings } from './query-interface.ts';

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
  async interrupt(): Promise<SDKControlInterruptResponse | undefined> {
    const receipt = await this.#ask({ subtype: 'interrupt' });
    return Object.keys(receipt).length > 0 ? (receipt as SDKControlInterruptResponse) : undefined;
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

  async applyFlagSettings(settings: FlagSettings): Promise<void> {
    await this.#ask({ subtype: 'apply_flag_settings', settings });
  }

  async updateSettings(
    source: 'localSettings' | 'userSettings',
    settings: Record<string, unknown>,
  ): Promise<void> {
    await this.#ask({ subtype: 'update_settings', source, settings });
  }

  /** The agent's response to `initialize`. */
  initializationResult(): Promise<SDKControlInitializeResponse> {
    return this.conversation.initialized as Promise<Frame & SDKControlInitializeResponse>;
  }

  reinitialize(): Promise<SDKControlInitializeResponse> {
    return this.conversation.reinitialize() as Promise<Frame & SDKControlInitializeResponse>;
  }

  async supportedCommands(): Promise<SlashCommand[]> {
    return (await this.initializationResult()).commands;
  }

  async supportedModels(): Promise<ModelInfo[]> {
    return (await this.initializationResult()).models;
  }

  async supportedAgents(): Promise<AgentInfo[]> {
    return (await this.initializationResult()).agents;
  }

  async accountInfo(): Promise<AccountInfo> {
    return (await this.initializationResult()).account;
  }

  async mcpServerStatus(): Promise<McpServerStatus[]> {
    const { mcpServers } = await this.#ask({ subtype: 'mcp_status' });
    return (mcpServers ?? []) as McpServerStatus[];
  }

  getContextUsage(options?: { detail?: 'summary' | 'full' }): Promise<SDKControlGetContextUsageResponse> {
    return this.#ask({ subtype: 'get_context_usage', detail: options?.detail });
  }

  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(options?: {
    skipBehaviors?: boolean;
  }): Promise<SDKControlGetUsageResponse> {
    return this.#ask({ subtype: 'get_usage', skip_behaviors: options?.skipBehaviors });
  }

  /** `null` if the agent refuses or has no such file. */
  async readFile(
    path: string,
    options?: { maxBytes?: number; encoding?: 'utf-8' | 'base64' },
  ): Promise<SDKControlReadFileResponse | null> {
    try {
      return await this.#ask<SDKControlReadFileResponse>({
        subtype: 'read_file',
        path,
        max_bytes: options?.maxBytes,
        encoding: options?.encoding,
      });
    } catch (cause) {
      if (cause instanceof SdkError && cause.code === 'control-failed') return null;
      throw cause;
    }
  }

  reloadPlugins(options?: {
    holdOnCacheImpact?: boolean;
    addPlugins?: SdkPluginConfig[];
    refuseIfBusy?: boolean;
  }): Promise<SDKControlReloadPluginsResponse> {
    return this.#ask({
      subtype: 'reload_plugins',
      hold_on_cache_impact: options?.holdOnCacheImpact,
      add_plugins: options?.addPlugins,
      refuse_if_busy: options?.refuseIfBusy,
    });
  }

  reloadSkills(): Promise<SDKControlReloadSkillsResponse> {
    return this.#ask({ subtype: 'reload_skills' });
  }

  reloadOutputStyles(): Promise<SDKControlReloadOutputStylesResponse> {
    return this.#ask({ subtype: 'reload_output_styles' });
  }

  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult> {
    return this.#ask({ subtype: 'rewind_files', user_message_id: userMessageId, dry_run: options?.dryRun });
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

  /**
   * Starts a sign-in to a remote server: open `authUrl` in a browser. The agent waits for the redirect on a local port;
   * if the browser cannot reach it, pass the address to `mcpSubmitOAuthCallbackUrl()`.
   */
  mcpAuthenticate(
    serverName: string,
    redirectUri?: string,
    options?: { redirectUriOnly?: boolean },
  ): Promise<SDKControlMcpAuthenticateResponse> {
    const { redirectUriOnly } = options ?? {};
    return this.#ask({ subtype: 'mcp_authenticate', serverName, redirectUri, redirectUriOnly });
  }

  /** Completes a sign-in with the address that the browser was redirected to. */
  async mcpSubmitOAuthCallbackUrl(serverName: string, callbackUrl: string): Promise<void> {
    await this.#ask({ subtype: 'mcp_oauth_callback_url', serverName, callbackUrl });
  }

  /** Signs out of a remote server. */
  async mcpClearAuth(serverName: string): Promise<void> {
    await this.#ask({ subtype: 'mcp_clear_auth', serverName });
  }

  readMcpResource(serverName: string, uri: string): Promise<SDKControlMcpReadResourceResponse> {
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

  /** `undefined` members are left out on the wire. The response is passed on as the agent sent it. */
  #ask<Response = Frame>(body: Frame & { subtype: string }): Promise<Response> {
    return this.conversation.request(body) as Promise<Response>;
  }
}
