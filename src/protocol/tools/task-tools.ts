// Inputs and outputs of the built-in tools for sub-agents, tasks, plans, schedules and worktrees.

/** Input of `Agent`, earlier `Task`: starts a sub-agent. */
export type AgentInput = {
  description: string;
  prompt: string;
  subagent_type?: string;
  model?: 'sonnet' | 'opus' | 'haiku' | 'fable';
  effort?: ToolEffort;
  run_in_background?: boolean;
  name?: string;
  team_name?: string;
  mode?: 'acceptEdits' | 'auto' | 'bypassPermissions' | 'default' | 'dontAsk' | 'plan';
  isolation?: 'worktree' | 'remote';
};

/** How much work a model puts into a task. */
export type ToolEffort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export type AgentOutput = CompletedAgent | BackgroundAgent | RemoteAgent;

type CompletedAgent = {
  status: 'completed';
  agentId: string;
  agentType?: string;
  prompt: string;
  content: { type: 'text'; text: string; citations?: unknown[] | null }[];
  resolvedModel?: string;
  modelsUsed?: string[];
  totalToolUseCount: number;
  totalDurationMs: number;
  totalTokens: number;
  usage: AgentUsage;
  toolsUsed?: string[];
  toolStats?: {
    readCount: number;
    searchCount: number;
    bashCount: number;
    editFileCount: number;
    linesAdded: number;
    linesRemoved: number;
    otherToolCount: number;
    frameCount?: number;
  };
  worktreePath?: string;
  worktreeBranch?: string;
};

type AgentUsage = {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number | null;
  cache_read_input_tokens: number | null;
  server_tool_use: { web_search_requests: number; web_fetch_requests: number } | null;
  service_tier: string | null;
  cache_creation: { ephemeral_1h_input_tokens: number; ephemeral_5m_input_tokens: number } | null;
  inference_geo?: string | null;
  speed?: string | null;
  iterations?: unknown;
  output_tokens_details?: { thinking_tokens?: number | null } | null;
  fallback_credit?: unknown;
};

type BackgroundAgent = {
  status: 'async_launched';
  isAsync?: true;
  agentId: string;
  description: string;
  prompt: string;
  resolvedModel?: string;
  modelsUsed?: string[];
  outputFile: string;
  canReadOutputFile?: boolean;
};

type RemoteAgent = {
  status: 'remote_launched';
  taskId: string;
  sessionUrl: string;
  description: string;
  prompt: string;
  outputFile: string;
};

/** Input of `TaskStop`; `shell_id` is the older name of `task_id`. */
export type TaskStopInput = { task_id?: string; shell_id?: string };

export type TaskStopOutput = { message: string; task_id: string; task_type: string; command?: string };

export type TodoWriteInput = { todos: Todo[] };

export type TodoWriteOutput = { oldTodos: Todo[]; newTodos: Todo[] };

type Todo = { content: string; status: TaskStatus; activeForm: string };

type TaskStatus = 'pending' | 'in_progress' | 'completed';

export type TaskCreateInput = {
  subject: string;
  description: string;
  activeForm?: string;
  metadata?: { [key: string]: unknown };
};

export type TaskCreateOutput = { task: { id: string; subject: string; description?: string } };

export type TaskGetInput = { taskId: string };

export type TaskGetOutput = {
  task: {
    id: string;
    subject: string;
    description: string;
    status: TaskStatus;
    blocks: string[];
    blockedBy: string[];
  } | null;
};

export type TaskUpdateInput = {
  taskId: string;
  subject?: string;
  description?: string;
  activeForm?: string;
  status?: TaskStatus | 'deleted';
  addBlocks?: string[];
  addBlockedBy?: string[];
  owner?: string;
  metadata?: { [key: string]: unknown };
};

export type TaskUpdateOutput = {
  success: boolean;
  taskId: string;
  updatedFields: string[];
  error?: string;
  statusChange?: { from: string; to: string };
};

export type TaskListInput = NoInput;

export type TaskListOutput = {
  tasks: { id: string; subject: string; status: TaskStatus; owner?: string; blockedBy: string[] }[];
};

/** Input of a tool without parameters. */
export type NoInput = object;

export type EnterPlanModeInput = NoInput;

export type EnterPlanModeOutput = { message: string };

export type ExitPlanModeInput = {
  allowedPrompts?: { tool: 'Bash'; prompt: string }[];
  [key: string]: unknown;
};

export type ExitPlanModeOutput = {
  plan: string | null;
  isAgent: boolean;
  filePath?: string;
  hasTaskTool?: boolean;
  planWasEdited?: boolean;
  awaitingLeaderApproval?: boolean;
  requestId?: string;
};

export type EnterWorktreeInput = { name?: string; path?: string };

export type EnterWorktreeOutput = { worktreePath: string; worktreeBranch?: string; message: string };

export type ExitWorktreeInput = { action: 'keep' | 'remove'; discard_changes?: boolean };

export type ExitWorktreeOutput = {
  action: 'keep' | 'remove';
  originalCwd: string;
  worktreePath: string;
  worktreeBranch?: string;
  tmuxSessionName?: string;
  discardedFiles?: number;
  discardedCommits?: number;
  message: string;
};

export type WorkflowInput = {
  script?: string;
  name?: string;
  description?: string;
  title?: string;
  args?: { [key: string]: unknown };
  scriptPath?: string;
  resumeFromRunId?: string;
};

export type WorkflowOutput = {
  status: 'async_launched' | 'remote_launched';
  taskId: string;
  taskType?: 'local_workflow' | 'remote_agent';
  workflowName?: string;
  runId?: string;
  summary?: string;
  transcriptDir?: string;
  scriptPath?: string;
  sessionUrl?: string;
  warning?: string;
  error?: string;
};

export type CronCreateInput = { cron: string; prompt: string; recurring?: boolean; durable?: boolean };

/** `nextFireAt` is in milliseconds since 1970, here and in the list. */
export type CronCreateOutput = {
  id: string;
  humanSchedule: string;
  recurring: boolean;
  durable?: boolean;
  nextFireAt?: number;
};

export type CronDeleteInput = { id: string };

export type CronDeleteOutput = { id: string; endedLoopWakeup?: true };

export type CronListInput = NoInput;

export type CronListOutput = {
  jobs: {
    id: string;
    cron: string;
    humanSchedule: string;
    prompt: string;
    recurring?: boolean;
    durable?: boolean;
    nextFireAt?: number;
  }[];
};

export type ScheduleWakeupInput = {
  delaySeconds?: number;
  reason?: string;
  prompt?: string;
  stop?: boolean;
  noop?: boolean;
};

/** `scheduledFor` is in milliseconds since 1970. */
export type ScheduleWakeupOutput = {
  scheduledFor: number;
  clampedDelaySeconds: number;
  wasClamped: boolean;
  stopped?: boolean;
  cancelledWakeups?: number;
};

export type MonitorInput = {
  description: string;
  timeout_ms: number;
  command?: string;
  ws?: { url: string; protocols?: string[] };
};

export type MonitorOutput = { taskId: string; timeoutMs: number; persistent?: boolean };

export type RemoteTriggerInput = {
  action:
    | 'list'
    | 'get'
    | 'create'
    | 'update'
    | 'run'
    | 'create_webhook_trigger'
    | 'list_runs'
    | 'get_run_log';
  trigger_id?: string;
  session_id?: string;
  cursor?: string;
  body?: { [key: string]: unknown };
};

export type RemoteTriggerOutput = { status: number; json: string; summary?: string };
