// The public API of the SDK half. test/entry/surface.test.ts lists every exported name.
import './require-node.ts';
import type { AgentClient as Client } from '../sdk/agent-client.ts';
import { createAgentClient } from '../sdk/agent-client.ts';
import { refused } from '../sdk/official-exports.ts';
import { createQuery } from '../sdk/query.ts';
import type { InMemorySessionStore as MemoryStore } from '../sdk/session-store.ts';
import { sdkDeps } from './sdk-deps.ts';

const deps = sdkDeps();

const functions = createQuery(deps);

/** Starts an agent with a prompt: a string for one turn, or a stream of user messages, one turn each. */
export const query = functions.query;
/** Starts an agent before its prompt is known, so that the first turn does not wait for it. */
export const startup = functions.startup;

/** A conversation with several turns: `await using client = await AgentClient.open(options)`. */
export const AgentClient = { open: createAgentClient(deps) };
export type AgentClient = Client;

export type { SpawnedProcess, SpawnRequest as SpawnOptions } from '../control/process-link.ts';
export type {
  ModelBlock,
  SDKActiveGoalMessage,
  SDKAssistantMessage,
  SDKAuthStatusMessage,
  SDKConversationResetMessage,
  SDKDeferredToolUse,
  SDKMessage,
  SDKMessageOrigin,
  SDKPartialAssistantMessage,
  SDKPermissionDenial,
  SDKPromptSuggestionMessage,
  SDKRateLimitEvent,
  SDKResultError,
  SDKResultMessage,
  SDKResultSuccess,
  SDKStartupFailureReason,
  SDKToolProgressMessage,
  SDKToolUseSummaryMessage,
  SDKUserMessage,
  SDKUserMessageReplay,
  TerminalReason,
  UserBlock,
} from '../protocol/agent-message.ts';
export type {
  BackgroundTaskSummary,
  BaseHookInput,
  ConfigChangeHookInput,
  CwdChangedHookInput,
  DirectoryAddedHookInput,
  ElicitationHookInput,
  ElicitationResultHookInput,
  ExitReason,
  FileChangedHookInput,
  HookEvent,
  HookInput,
  InstructionsLoadedHookInput,
  McpServerProvenance,
  MessageDisplayHookInput,
  NotificationHookInput,
  PermissionDeniedHookInput,
  PermissionRequestHookInput,
  PostCompactHookInput,
  PostModelSwitchHookInput,
  PostToolBatchHookInput,
  PostToolBatchToolCall,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
  PreCompactHookInput,
  PreModelSwitchHookInput,
  PreToolUseHookInput,
  SessionCronSummary,
  SessionEndHookInput,
  SessionStartHookInput,
  SetupHookInput,
  StopFailureHookInput,
  StopHookInput,
  SubagentStartHookInput,
  SubagentStopHookInput,
  TaskCompletedHookInput,
  TaskCreatedHookInput,
  TeammateIdleHookInput,
  UserPromptExpansionHookInput,
  UserPromptSubmitHookInput,
  WorktreeCreateHookInput,
  WorktreeRemoveHookInput,
} from '../protocol/hook.ts';
export { EXIT_REASONS, HOOK_EVENTS } from '../protocol/hook.ts';
export type {
  AsyncHookJSONOutput,
  CwdChangedHookSpecificOutput,
  ElicitationHookSpecificOutput,
  ElicitationResultHookSpecificOutput,
  FileChangedHookSpecificOutput,
  HookJSONOutput,
  HookPermissionDecision,
  MessageDisplayHookSpecificOutput,
  NotificationHookSpecificOutput,
  PermissionDeniedHookSpecificOutput,
  PermissionRequestHookSpecificOutput,
  PostModelSwitchHookSpecificOutput,
  PostToolBatchHookSpecificOutput,
  PostToolUseFailureHookSpecificOutput,
  PostToolUseHookSpecificOutput,
  PreModelSwitchHookSpecificOutput,
  PreToolUseHookSpecificOutput,
  SessionStartHookSpecificOutput,
  SetupHookSpecificOutput,
  StopHookSpecificOutput,
  SubagentStartHookSpecificOutput,
  SubagentStopHookSpecificOutput,
  SyncHookJSONOutput,
  UserPromptExpansionHookSpecificOutput,
  UserPromptSubmitHookSpecificOutput,
  WorktreeCreateHookSpecificOutput,
} from '../protocol/hook-output.ts';
export { SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from '../protocol/launch-flag.ts';
export type {
  CallToolResult,
  ContentBlock,
  Icon,
  JsonSchema,
  LogLevel,
  ToolAnnotations,
} from '../protocol/mcp.ts';
export type {
  PermissionBehavior,
  PermissionDecisionClassification,
  PermissionMode,
  PermissionResult,
  PermissionRuleValue,
  PermissionUpdate,
  PermissionUpdateDestination,
} from '../protocol/permission.ts';
export { AbortError, SdkError, type SdkErrorCode } from '../protocol/sdk-error.ts';
export type {
  HttpServerEntry as McpHttpServerConfig,
  SseServerEntry as McpSSEServerConfig,
  StdioServerEntry as McpStdioServerConfig,
  ToolPolicy as McpServerToolPolicy,
  WsServerEntry as McpWebSocketServerConfig,
} from '../protocol/server-entry.ts';
export type {
  AccountInfo,
  ApiKeySource,
  EffortLevel,
  FastModeDisabledReason,
  FastModeState,
  ModelInfo,
  SDKAPIRetryMessage,
  SDKAssistantMessageError,
  SDKBackgroundTasksChangedMessage,
  SDKCommandsChangedMessage,
  SDKCompactBoundaryMessage,
  SDKControlRequestProgressMessage,
  SDKElicitationCompleteMessage,
  SDKFilesPersistedEvent,
  SDKHookProgressMessage,
  SDKHookResponseMessage,
  SDKHookStartedMessage,
  SDKInformationalMessage,
  SDKLocalCommandOutputMessage,
  SDKMcpResourceLink,
  SDKMemoryRecallMessage,
  SDKMirrorErrorMessage,
  SDKModelRefusalFallbackMessage,
  SDKModelRefusalNoFallbackMessage,
  SDKNotificationMessage,
  SDKPermissionDeniedMessage,
  SDKPluginInstallMessage,
  SDKSessionStateChangedMessage,
  SDKSessionWritesLostMessage,
  SDKStatus,
  SDKStatusMessage,
  SDKSystemMessage,
  SDKTaskNotificationMessage,
  SDKTaskProgressMessage,
  SDKTaskStartedMessage,
  SDKTaskUpdatedMessage,
  SDKThinkingTokensMessage,
  SDKWorkerShuttingDownMessage,
  SlashCommand,
} from '../protocol/system-message.ts';
export type {
  ModelUsage,
  NonNullableUsage,
  SDKContextUsage,
  SDKContextUsageCategory,
  SDKRateLimitInfo,
  SDKUsageReport,
} from '../protocol/usage-report.ts';
export type {
  SDKControlRequest,
  SDKControlResponse,
  Transport,
} from '../sdk/control-messages.ts';
export type {
  AgentInfo,
  McpServerStatus,
  McpSetServersResult,
  RewindFilesResult,
  SDKControlGetContextUsageResponse,
  SDKControlGetUsageResponse,
  SDKControlInitializeResponse,
  SDKControlInterruptResponse,
  SDKControlListPermissionRulesResponse,
  SDKControlMcpAuthenticateResponse,
  SDKControlMcpReadResourceResponse,
  SDKControlPermissionRulesState,
  SDKControlReadFileResponse,
  SDKControlReloadOutputStylesResponse,
  SDKControlReloadPluginsResponse,
  SDKControlReloadSkillsResponse,
  SDKPermissionRuleDescription,
  SDKPermissionRuleEntry,
  SDKPermissionWorkspaceDirectory,
  SDKSettingsParseError,
} from '../sdk/control-responses.ts';
export { moduleServer } from '../sdk/module-server.ts';
export {
  type DeniedModelsMatch,
  ORG_POLICY_LIMIT_PREFIXES,
  USAGE_LIMIT_ERROR_PREFIXES,
  USAGE_TRANSITION_PREFIXES,
  USAGE_WARNING_PREFIXES,
} from '../sdk/official-exports.ts';
export type {
  AgentDefinition,
  AgentMcpServerSpec,
  BaseOutputFormat,
  CanUseTool,
  ElicitationRequest,
  ElicitationResult,
  HookCallback,
  HookCallbackMatcher,
  JsonSchemaOutputFormat,
  McpClaudeAIProxyServerConfig,
  McpSdkServerConfig,
  McpServerConfig,
  McpServerConfigForProcessTransport,
  McpServerStatusConfig,
  OnElicitation,
  OnToolUse,
  OnUserDialog,
  Options,
  OutputFormat,
  OutputFormatType,
  SdkBeta,
  SdkPluginConfig,
  SystemPrompt,
  ThinkingAdaptive,
  ThinkingConfig,
  ThinkingDisabled,
  ThinkingEnabled,
  ToolConfig,
  ToolUse,
  UserDialogRequest,
  UserDialogResult,
} from '../sdk/options/options.ts';
export type {
  ConfigScope,
  PolicySettingsOrigin,
  ProvenanceEntry,
  ResolvedSettingSource,
  ResolvedSettings,
  ResolveSettingsOptions,
  SandboxCredentialsConfig,
  SandboxFilesystemConfig,
  SandboxIgnoreViolations,
  SandboxNetworkConfig,
  SandboxSettings,
  SettingSource,
  Settings,
} from '../sdk/options/settings.ts';
export type {
  ClaimOptions,
  Prompt,
  Query,
  SpareProcess,
  WarmQuery,
} from '../sdk/query-interface.ts';
export type {
  ForkSessionOptions,
  ForkSessionResult,
  GetSessionInfoOptions,
  GetSessionMessagesOptions,
  GetSubagentMessagesOptions,
  ImportSessionToStoreOptions,
  ListSessionsOptions,
  ListSubagentsOptions,
  SDKSessionInfo,
  SessionKey,
  SessionMessage,
  SessionMutationOptions,
  SessionStore,
  SessionStoreEntry,
  SessionStoreFlush,
  SessionSummaryEntry,
} from '../sdk/session-store.ts';
export type { Assigns, CallerAuth, ToolContext } from '../tool-server/context.ts';
export type {
  CompleteArgument,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
} from '../tool-server/methods.ts';
export type {
  ArgsOf,
  InferShape,
  RawShape as AnyZodRawShape,
  StandardSchema,
  ToolSchema,
} from '../tool-server/schema/standard-schema.ts';
export {
  attach,
  createSdkMcpServer,
  type McpSdkServerConfigWithInstance,
  type SdkServer,
  type SdkServerOptions,
  toolServer,
} from '../tool-server/sdk-server.ts';
export type {
  ClientRequest,
  ClientRequestOptions,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  Root,
} from '../tool-server/serving/client-requests.ts';
export type { HttpToolServer, ListenOptions } from '../tool-server/serving/listen.ts';
export type { ResourceServerOptions } from '../tool-server/serving/resource-server.ts';
export {
  type AnyTool,
  type SdkMcpToolDefinition,
  type ToolDefinition,
  type ToolExtras,
  tool,
} from '../tool-server/tool.ts';

export { filterEscalatingDefaultMode, resolveSettings } from './resolve-settings.ts';
export {
  archiveSession,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  listSessions,
  listSubagents,
  renameSession,
  tagSession,
  unarchiveSession,
} from './sessions.ts';

// Unsupported exports of the official package: any use throws an error that names an alternative.
export const BUILTIN_TOOL_NAMES = refused('BUILTIN_TOOL_NAMES');
export const InMemorySessionStore = refused('InMemorySessionStore');
export type InMemorySessionStore = MemoryStore;
export const LEGACY_TOOL_NAME_ALIASES = refused('LEGACY_TOOL_NAME_ALIASES');
export const foldSessionSummary = refused('foldSessionSummary');
export const importSessionToStore = refused('importSessionToStore');
export const matchDeniedModels = refused('matchDeniedModels');
export const prewarm = refused('prewarm');
