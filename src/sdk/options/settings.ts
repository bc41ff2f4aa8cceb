import type { PermissionMode } from '../../protocol/permission.ts';
import type { EffortLevel } from '../../protocol/system-message.ts';
import type { PluginSettings } from './plugin-settings.ts';

/** The content of a settings file, as the official agent reads it. The agent validates it. */
export interface Settings
  extends PluginSettings,
    AccountSettings,
    ModelSettings,
    PermissionSettings,
    HookSettings,
    McpSettings,
    SessionSettings,
    InterfaceSettings,
    UpdateSettings {
  $schema?: string;
  env?: { [name: string]: string };
  sandbox?: SandboxSettings;
  [more: string]: unknown;
}

/** A settings file that the agent reads. */
export type SettingSource = 'user' | 'project' | 'local';
/** The scope of a configuration. */
export type ConfigScope = SettingSource;
/** A source of effective settings. */
export type ResolvedSettingSource = SettingSource | 'managed' | 'flag';
/** Where an administrator's settings come from. */
export type PolicySettingsOrigin = 'helper' | 'remote' | 'plist' | 'hklm' | 'file' | 'parent' | 'hkcu';

/** The source of one effective setting. */
export type ProvenanceEntry = {
  source: ResolvedSettingSource;
  path?: string;
  policyOrigin?: PolicySettingsOrigin;
};
/** The effective settings with their sources. */
export type ResolvedSettings = {
  effective: Settings;
  provenance: Partial<Record<keyof Settings, ProvenanceEntry>>;
  sources: (ProvenanceEntry & { settings: Settings })[];
  machinePolicy?: { didNotLoad: false | ('profile' | 'registry' | 'file')[] };
};
/** Options of `resolveSettings()`. */
export type ResolveSettingsOptions = {
  cwd?: string;
  settingSources?: SettingSource[];
  managedSettings?: Settings;
  serverManagedSettings?: Settings;
};

interface AccountSettings {
  apiKeyHelper?: string;
  proxyAuthHelper?: string;
  awsCredentialExport?: string;
  awsAuthRefresh?: string;
  gcpAuthRefresh?: string;
  otelHeadersHelper?: string;
  policyHelper?: { path: string; timeoutMs?: number; refreshIntervalMs?: number };
  forceLoginMethod?: 'claudeai' | 'console' | 'gateway';
  forceLoginGatewayUrl?: string;
  forceLoginOrgUUID?: string | string[];
  gatewayInternalNetworks?: string[];
  allowedProviders?: (
    | 'anthropic'
    | 'customEndpoint'
    | 'bedrock'
    | 'vertex'
    | 'foundry'
    | 'anthropicAws'
    | 'mantle'
    | 'gateway'
  )[];
  parentSettingsBehavior?: 'first-wins' | 'merge';
  managedSourcesBehavior?: 'first-wins' | 'merge';
  forceRemoteSettingsRefresh?: boolean;
  wslInheritsWindowsSettings?: boolean;
}

type StoredEffort = Exclude<EffortLevel, 'max'>;
type CacheTtl = '5m' | '1h';

interface ModelSettings {
  model?: string;
  fallbackModel?: string[];
  availableModels?: string[];
  enforceAvailableModels?: boolean;
  availableModelsMatch?: 'prefix' | 'exact';
  deniedModels?: string[];
  modelOverrides?: { [model: string]: string };
  modelPicker?: {
    options: { model: string; label?: string; description?: string; behavesAs?: string }[];
    replaceBuiltInOptions?: boolean;
  };
  modelPricing?: {
    multiplier?: number;
    overrides?: {
      [model: string]: { input: number; output: number; cacheRead: number; cacheWrite: number };
    };
  };
  modelSettings?: {
    [model: string]: {
      effortLevel?: StoredEffort;
      maxEffortLevel?: EffortLevel;
      autoCompactWindow?: 'auto' | number;
      [more: string]: unknown;
    };
  };
  advisorModel?: string;
  effortLevel?: StoredEffort;
  maxEffortLevel?: EffortLevel;
  alwaysThinkingEnabled?: boolean;
  ultracode?: boolean;
  fastMode?: boolean;
  fastModePerSessionOptIn?: boolean;
  switchModelsOnFlag?: boolean;
  promptCacheTtl?: CacheTtl;
  subagentPromptCacheTtl?: CacheTtl;
  autoCompactEnabled?: boolean;
  autoCompactWindow?: number;
  precomputeCompactionEnabled?: boolean;
  idleCompaction?: boolean;
}

interface PermissionSettings {
  permissions?: {
    allow?: string[];
    deny?: string[];
    ask?: string[];
    defaultMode?: PermissionMode;
    additionalDirectories?: string[];
    workingDirectoriesAsGiven?: string[];
    disableBypassPermissionsMode?: 'disable';
    disableAutoMode?: 'disable';
    denyInsteadOfPrompting?: boolean;
    blockReadsOutsideWorkingDirectories?: boolean;
    blockWritesOutsideWorkingDirectories?: boolean;
    blockReadsExemptPaths?: string[];
    [more: string]: unknown;
  };
  allowManagedPermissionRulesOnly?: boolean;
  skipDangerousModePermissionPrompt?: boolean;
  skipAutoPermissionPrompt?: boolean;
  skipWebFetchPreflight?: boolean;
  disableAutoMode?: 'disable';
  useAutoModeDuringPlan?: boolean;
  autoMode?: {
    allow?: string[];
    soft_deny?: string[];
    hard_deny?: string[];
    environment?: string[];
    classifyAllShell?: boolean;
  };
}

type HookBase = { if?: string; timeout?: number; statusMessage?: string; once?: boolean };
type HookFailure = { onFailure?: 'continue' | 'block' };
type ConfiguredHook =
  | (HookBase &
      HookFailure & {
        type: 'command';
        command: string;
        args?: string[];
        shell?: 'bash' | 'powershell';
        async?: boolean;
        asyncRewake?: boolean;
      })
  | (HookBase & { type: 'prompt'; prompt: string; model?: string; continueOnBlock?: boolean })
  | (HookBase & { type: 'agent'; prompt: string; model?: string })
  | (HookBase &
      HookFailure & {
        type: 'http';
        url: string;
        headers?: { [name: string]: string };
        allowedEnvVars?: string[];
      })
  | (HookBase & { type: 'mcp_tool'; server: string; tool: string; input?: { [name: string]: unknown } });

interface HookSettings {
  hooks?: { [event: string]: { matcher?: string; hooks: ConfiguredHook[] }[] };
  disableAllHooks?: boolean;
  allowManagedHooksOnly?: boolean;
  allowedHttpHookUrls?: string[];
  httpHookAllowedEnvVars?: string[];
}

type ServerMatch = { serverName?: string; serverCommand?: [string, ...string[]]; serverUrl?: string };

interface McpSettings {
  enableAllProjectMcpServers?: boolean;
  enabledMcpjsonServers?: string[];
  disabledMcpjsonServers?: string[];
  disableClaudeAiConnectors?: boolean;
  managedMcpServers?: { [server: string]: { [key: string]: unknown } };
  allowedMcpServers?: ServerMatch[];
  deniedMcpServers?: ServerMatch[];
  allowManagedMcpServersOnly?: boolean;
  allowAllClaudeAiMcps?: boolean;
  allowClaudeInChromeWithManagedMcp?: boolean;
}

type DialogTimeout = '60s' | '5m' | '10m' | 'never';

/** Settings of what the agent does and keeps. */
interface SessionSettings {
  agent?: string;
  claudeMd?: string;
  claudeMdExcludes?: string[];
  includeGitInstructions?: boolean;
  includeCoAuthoredBy?: boolean;
  attribution?: boolean | { commit?: string; pr?: string; sessionUrl?: boolean; [more: string]: unknown };
  attributionProject?: string;
  attributionProjectPolicy?: { default?: string };
  processWrapper?: string;
  fileSuggestion?: { type: 'command'; command: string };
  respectGitignore?: boolean;
  cleanupPeriodDays?: number;
  desktopSessionCleanupPeriodDays?: number;
  autoUploadSessions?: boolean;
  fileCheckpointingEnabled?: boolean;
  plansDirectory?: string;
  autoMemoryEnabled?: boolean;
  autoMemoryDirectory?: string;
  autoDreamEnabled?: boolean;
  worktree?: {
    symlinkDirectories?: string[];
    sparsePaths?: string[];
    baseRef?: 'fresh' | 'head';
    bgIsolation?: 'worktree' | 'none';
    location?: string;
  };
  syncClaudeAiSkills?: boolean;
  skillOverrides?: { [skill: string]: 'on' | 'name-only' | 'user-invocable-only' | 'off' };
  skillListingMaxDescChars?: number;
  skillListingBudgetFraction?: number;
  disableBundledSkills?: boolean;
  disableSkillShellExecution?: boolean;
  disableReplyCheck?: boolean;
  disableAgentView?: boolean;
  disableRemoteControl?: boolean;
  disableArtifact?: boolean;
  enableArtifact?: boolean;
  disableWorkflows?: boolean;
  enableWorkflows?: boolean;
  workflowSizeGuideline?: 'unrestricted' | 'small' | 'medium' | 'large';
  workflowKeywordTriggerEnabled?: boolean;
  defaultShell?: 'bash' | 'powershell';
  disableWindowsBashCommandSplit?: boolean;
  bashEditDiffEnabled?: boolean;
  bashOutputMaxChars?: number;
  taskOutputMaxChars?: number;
  respondToBashCommands?: boolean;
  todoFeatureEnabled?: boolean;
  autoContinueAtUsageLimit?: boolean;
  askUserQuestionTimeout?: DialogTimeout;
  dialogExpiry?: DialogTimeout;
  teammateMode?: 'auto' | 'tmux' | 'iterm2' | 'in-process';
  remote?: { defaultEnvironmentId?: string };
  remoteControlAtStartup?: boolean;
  isolatePeerMachines?: boolean;
  daemonColdStart?: 'transient' | 'ask';
  crossSessionInbound?: 'accept' | 'hold' | 'refuse';
  channelsEnabled?: boolean;
  sshConfigs?: {
    id: string;
    name: string;
    sshHost: string;
    sshPort?: number;
    sshIdentityFile?: string;
    startDirectory?: string;
  }[];
  sshHostCommands?: unknown[];
}

/** Settings of the official terminal interface. */
interface InterfaceSettings {
  theme?: string;
  tui?: 'default' | 'fullscreen';
  language?: string;
  outputStyle?: string;
  viewMode?: 'default' | 'verbose' | 'focus';
  defaultView?: 'chat' | 'transcript';
  verbose?: boolean;
  timeFormat?: string;
  timeZone?: string;
  editorMode?: 'normal' | 'vim';
  keybindingFlavor?: 'classic' | 'readline';
  vimInsertModeRemaps?: { [keys: string]: unknown };
  statusLine?: {
    type: 'command';
    command: string;
    padding?: number;
    refreshInterval?: number;
    hideVimModeIndicator?: boolean;
  };
  subagentStatusLine?: { type: 'command'; command: string };
  prUrlTemplate?: string;
  footerLinksRegexes?: (
    | { type: 'regex'; pattern: string; url: string; label?: string; [more: string]: unknown }
    | { type: string; [more: string]: unknown }
  )[];
  companyAnnouncements?: string[];
  feedbackSurveyRate?: number;
  feedbackDrafts?: 'notify' | 'quiet' | 'off';
  spinnerTipsEnabled?: boolean;
  spinnerVerbs?: { mode: 'append' | 'replace'; verbs: string[] };
  spinnerTipsOverride?: {
    excludeDefault?: boolean;
    tips?: (string | { [key: string]: unknown })[];
    tipsFile?: string;
    label?: string;
    [more: string]: unknown;
  };
  spellcheck?: {
    enabled?: boolean;
    checker?: string;
    language?: string;
    color?: string;
    [more: string]: unknown;
  };
  voice?: { enabled?: boolean; mode?: 'hold' | 'tap'; autoSubmit?: boolean };
  voiceEnabled?: boolean;
  syntaxHighlightingDisabled?: boolean;
  maxProseWidth?: number;
  prefersReducedMotion?: boolean;
  promptSuggestionEnabled?: boolean;
  emojiCompletionEnabled?: boolean;
  showClearContextOnPlanAccept?: boolean;
  showThinkingSummaries?: boolean;
  showTurnDuration?: boolean;
  showMessageTimestamps?: boolean;
  terminalTitleFromRename?: boolean;
  terminalProgressBarEnabled?: boolean;
  autoScrollEnabled?: boolean;
  wheelScrollAccelerationEnabled?: boolean;
  preferredNotifChannel?:
    | 'auto'
    | 'iterm2'
    | 'iterm2_with_bell'
    | 'terminal_bell'
    | 'kitty'
    | 'ghostty'
    | 'notifications_disabled';
  inputNeededNotifEnabled?: boolean;
  agentPushNotifEnabled?: boolean;
  disableDeepLinkRegistration?: 'disable';
}

interface UpdateSettings {
  autoUpdatesChannel?: 'latest' | 'stable' | 'rc';
  minimumVersion?: string;
  requiredMinimumVersion?: string;
  requiredMaximumVersion?: string;
}
/** What happens to a credential: commands do not see it, or see a placeholder. */
type CredentialRule = {
  mode: 'deny' | 'mask';
  extract?: string;
  onExtractNoMatch?: 'deny' | 'error' | 'warn';
  decode?: 'jwt';
  maskClaims?: string[];
  injectHosts?: string[];
};
type SigningPolicy = 'deny' | 'passthrough';

/** The credentials that sandboxed commands do not see. */
export type SandboxCredentialsConfig = {
  files?: (CredentialRule & { path: string; maskDuplicates?: boolean })[];
  envVars?: (CredentialRule & { name: string })[];
  allowPlaintextInject?: boolean;
  awsPairs?: { accessKeyIdVar: string; secretAccessKeyVar: string; sessionTokenVar?: string }[];
  sigv4?: { streaming?: SigningPolicy; presigned?: SigningPolicy; sigv4a?: SigningPolicy };
};

/** The paths that sandboxed commands may read and write. */
export type SandboxFilesystemConfig = {
  allowRead?: string[];
  denyRead?: string[];
  allowWrite?: string[];
  denyWrite?: string[];
  allowManagedReadPathsOnly?: boolean;
  disabled?: boolean;
};

/** The hosts and sockets that sandboxed commands may reach. */
export type SandboxNetworkConfig = {
  allowedDomains?: string[];
  deniedDomains?: string[];
  strictAllowlist?: boolean;
  allowManagedDomainsOnly?: boolean;
  allowUnixSockets?: string[];
  allowAllUnixSockets?: boolean;
  allowLocalBinding?: boolean;
  allowMachLookup?: string[];
  httpProxyPort?: number;
  socksProxyPort?: number;
  tlsTerminate?: { caCertPath?: string; caKeyPath?: string };
};

/** Violations that are not reported: paths or operations by command. */
export type SandboxIgnoreViolations = Record<string, string[]>;

/**
 * Sandbox settings of the `claude` CLI. Toolplane's agent has no sandbox and does not start with `enabled: true`.
 */
export type SandboxSettings = {
  enabled?: boolean;
  failIfUnavailable?: boolean;
  autoAllowBashIfSandboxed?: boolean;
  allowUnsandboxedCommands?: boolean;
  excludedCommands?: string[];
  network?: SandboxNetworkConfig;
  filesystem?: SandboxFilesystemConfig;
  credentials?: SandboxCredentialsConfig;
  ignoreViolations?: SandboxIgnoreViolations;
  enableWeakerNestedSandbox?: boolean;
  enableWeakerNetworkIsolation?: boolean;
  allowNestedUserNamespaces?: boolean;
  allowAppleEvents?: boolean;
  ripgrep?: { command: string; args?: string[] };
  bwrapPath?: string;
  socatPath?: string;
  [more: string]: unknown;
};
