// The public API of the SDK half. test/entry/surface.test.ts lists every exported name.
import './require-node.ts';
import type { AgentClient as Client } from '../sdk/agent-client.ts';
import { createAgentClient } from '../sdk/agent-client.ts';
import { refused } from '../sdk/official-exports.ts';
import { createQuery } from '../sdk/query.ts';
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

export type {
  ModelBlock,
  SDKAssistantMessage,
  SDKCompactBoundaryMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKResultError,
  SDKResultMessage,
  SDKResultSuccess,
  SDKSystemMessage,
  SDKUserMessage,
  UserBlock,
} from '../protocol/agent-message.ts';
export type {
  AsyncHookJSONOutput,
  BaseHookInput,
  HookEvent,
  HookInput,
  HookJSONOutput,
  NotificationHookInput,
  PermissionDeniedHookInput,
  PermissionRequestHookInput,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
  PreCompactHookInput,
  PreToolUseHookInput,
  SessionEndHookInput,
  SessionStartHookInput,
  StopHookInput,
  SubagentStartHookInput,
  SubagentStopHookInput,
  SyncHookJSONOutput,
  UserPromptSubmitHookInput,
} from '../protocol/hook.ts';
export { HOOK_EVENTS } from '../protocol/hook.ts';
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
export { moduleServer } from '../sdk/module-server.ts';
export { EXIT_REASONS, SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from '../sdk/official-exports.ts';
export type {
  AgentDefinition,
  CanUseTool,
  ElicitationRequest,
  ElicitationResult,
  HookCallback,
  HookCallbackMatcher,
  McpServerConfig,
  OnElicitation,
  OnToolUse,
  OnUserDialog,
  Options,
  SdkPluginConfig,
  Settings,
  SystemPrompt,
  ThinkingConfig,
  ToolUse,
  UserDialogRequest,
  UserDialogResult,
} from '../sdk/options/options.ts';
export type { Prompt, Query, WarmQuery } from '../sdk/query.ts';
export type { McpServerStatus, McpSetServersResult } from '../sdk/query-methods.ts';
export type { Assigns, ToolContext } from '../tool-server/context.ts';
export type { PromptDefinition, ResourceDefinition } from '../tool-server/methods.ts';
export {
  attach,
  createSdkMcpServer,
  type SdkServer,
  type SdkServerEntry as McpSdkServerConfigWithInstance,
  type SdkServerOptions,
  toolServer,
} from '../tool-server/sdk-server.ts';
export type { ArgsOf, StandardSchema, ToolSchema } from '../tool-server/standard-schema.ts';
export {
  type AnyTool,
  type ToolDefinition as SdkMcpToolDefinition,
  type ToolExtras,
  tool,
} from '../tool-server/tool.ts';

export const BUILTIN_TOOL_NAMES = refused('BUILTIN_TOOL_NAMES');
export const InMemorySessionStore = refused('InMemorySessionStore');
export const LEGACY_TOOL_NAME_ALIASES = refused('LEGACY_TOOL_NAME_ALIASES');
export const ORG_POLICY_LIMIT_PREFIXES = refused('ORG_POLICY_LIMIT_PREFIXES');
export const USAGE_LIMIT_ERROR_PREFIXES = refused('USAGE_LIMIT_ERROR_PREFIXES');
export const USAGE_TRANSITION_PREFIXES = refused('USAGE_TRANSITION_PREFIXES');
export const USAGE_WARNING_PREFIXES = refused('USAGE_WARNING_PREFIXES');
export const archiveSession = refused('archiveSession');
export const deleteSession = refused('deleteSession');
export const filterEscalatingDefaultMode = refused('filterEscalatingDefaultMode');
export const foldSessionSummary = refused('foldSessionSummary');
export const forkSession = refused('forkSession');
export const getSessionInfo = refused('getSessionInfo');
export const getSessionMessages = refused('getSessionMessages');
export const getSubagentMessages = refused('getSubagentMessages');
export const importSessionToStore = refused('importSessionToStore');
export const listSessions = refused('listSessions');
export const listSubagents = refused('listSubagents');
export const matchDeniedModels = refused('matchDeniedModels');
export const prewarm = refused('prewarm');
export const renameSession = refused('renameSession');
export const resolveSettings = refused('resolveSettings');
export const tagSession = refused('tagSession');
export const unarchiveSession = refused('unarchiveSession');
