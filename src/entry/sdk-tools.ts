// "toolplane/sdk-tools": types of the inputs and outputs of the built-in tools. The module has no code.

import type * as files from '../protocol/tools/file-tools.ts';
import type * as remote from '../protocol/tools/remote-tools.ts';
import type * as tasks from '../protocol/tools/task-tools.ts';
import type * as users from '../protocol/tools/user-tools.ts';

export type {
  BashInput,
  BashOutput,
  FileEditInput,
  FileEditOutput,
  FileReadInput,
  FileReadOutput,
  FileWriteInput,
  FileWriteOutput,
  GlobInput,
  GlobOutput,
  GrepInput,
  GrepOutput,
  NotebookEditInput,
  NotebookEditOutput,
} from '../protocol/tools/file-tools.ts';
export type {
  ArtifactInput,
  ArtifactOutput,
  ClaudeDesignInput,
  ClaudeDesignOutput,
  ListMcpResourcesInput,
  ListMcpResourcesOutput,
  McpInput,
  McpOutput,
  ProjectsInput,
  ProjectsOutput,
  ReadMcpResourceDirInput,
  ReadMcpResourceDirOutput,
  ReadMcpResourceInput,
  ReadMcpResourceOutput,
  RefreshMcpToolsInput,
  RefreshMcpToolsOutput,
  WebFetchInput,
  WebFetchOutput,
  WebSearchInput,
  WebSearchOutput,
} from '../protocol/tools/remote-tools.ts';
export type {
  AgentInput,
  AgentOutput,
  CronCreateInput,
  CronCreateOutput,
  CronDeleteInput,
  CronDeleteOutput,
  CronListInput,
  CronListOutput,
  EnterPlanModeInput,
  EnterPlanModeOutput,
  EnterWorktreeInput,
  EnterWorktreeOutput,
  ExitPlanModeInput,
  ExitPlanModeOutput,
  ExitWorktreeInput,
  ExitWorktreeOutput,
  MonitorInput,
  MonitorOutput,
  RemoteTriggerInput,
  RemoteTriggerOutput,
  ScheduleWakeupInput,
  ScheduleWakeupOutput,
  TaskCreateInput,
  TaskCreateOutput,
  TaskGetInput,
  TaskGetOutput,
  TaskListInput,
  TaskListOutput,
  TaskStopInput,
  TaskStopOutput,
  TaskUpdateInput,
  TaskUpdateOutput,
  TodoWriteInput,
  TodoWriteOutput,
  WorkflowInput,
  WorkflowOutput,
} from '../protocol/tools/task-tools.ts';
export type {
  AskUserQuestionInput,
  AskUserQuestionOutput,
  OfferChromeSetupInput,
  OfferChromeSetupOutput,
  ProposeGoalInput,
  ProposeGoalOutput,
  ProposeSkillsInput,
  ProposeSkillsOutput,
  PushNotificationInput,
  PushNotificationOutput,
  ReadNotificationsInput,
  ReadNotificationsOutput,
  ReportFindingsInput,
  ReportFindingsOutput,
  SendFeedbackInput,
  SendFeedbackOutput,
  ShowOnboardingRolePickerInput,
  ShowOnboardingRolePickerOutput,
} from '../protocol/tools/user-tools.ts';

/** The input or the output of any built-in tool. */
export type ToolInputSchemas =
  | files.BashInput
  | files.FileEditInput
  | files.FileReadInput
  | files.FileWriteInput
  | files.GlobInput
  | files.GrepInput
  | files.NotebookEditInput
  | tasks.AgentInput
  | tasks.CronCreateInput
  | tasks.CronDeleteInput
  | tasks.CronListInput
  | tasks.EnterPlanModeInput
  | tasks.EnterWorktreeInput
  | tasks.ExitPlanModeInput
  | tasks.ExitWorktreeInput
  | tasks.MonitorInput
  | tasks.RemoteTriggerInput
  | tasks.ScheduleWakeupInput
  | tasks.TaskCreateInput
  | tasks.TaskGetInput
  | tasks.TaskListInput
  | tasks.TaskStopInput
  | tasks.TaskUpdateInput
  | tasks.TodoWriteInput
  | tasks.WorkflowInput
  | users.AskUserQuestionInput
  | users.OfferChromeSetupInput
  | users.ProposeGoalInput
  | users.ProposeSkillsInput
  | users.PushNotificationInput
  | users.ReadNotificationsInput
  | users.ReportFindingsInput
  | users.SendFeedbackInput
  | users.ShowOnboardingRolePickerInput
  | remote.ArtifactInput
  | remote.ClaudeDesignInput
  | remote.ListMcpResourcesInput
  | remote.McpInput
  | remote.ProjectsInput
  | remote.ReadMcpResourceDirInput
  | remote.ReadMcpResourceInput
  | remote.RefreshMcpToolsInput
  | remote.WebFetchInput
  | remote.WebSearchInput
  | ToolOutputSchemas;

/** The output of any built-in tool. */
export type ToolOutputSchemas =
  | files.BashOutput
  | files.FileEditOutput
  | files.FileReadOutput
  | files.FileWriteOutput
  | files.GlobOutput
  | files.GrepOutput
  | files.NotebookEditOutput
  | tasks.AgentOutput
  | tasks.CronCreateOutput
  | tasks.CronDeleteOutput
  | tasks.CronListOutput
  | tasks.EnterPlanModeOutput
  | tasks.EnterWorktreeOutput
  | tasks.ExitPlanModeOutput
  | tasks.ExitWorktreeOutput
  | tasks.MonitorOutput
  | tasks.RemoteTriggerOutput
  | tasks.ScheduleWakeupOutput
  | tasks.TaskCreateOutput
  | tasks.TaskGetOutput
  | tasks.TaskListOutput
  | tasks.TaskStopOutput
  | tasks.TaskUpdateOutput
  | tasks.TodoWriteOutput
  | tasks.WorkflowOutput
  | users.AskUserQuestionOutput
  | users.OfferChromeSetupOutput
  | users.ProposeGoalOutput
  | users.ProposeSkillsOutput
  | users.PushNotificationOutput
  | users.ReadNotificationsOutput
  | users.ReportFindingsOutput
  | users.SendFeedbackOutput
  | users.ShowOnboardingRolePickerOutput
  | remote.ArtifactOutput
  | remote.ClaudeDesignOutput
  | remote.ListMcpResourcesOutput
  | remote.McpOutput
  | remote.ProjectsOutput
  | remote.ReadMcpResourceDirOutput
  | remote.ReadMcpResourceOutput
  | remote.RefreshMcpToolsOutput
  | remote.WebFetchOutput
  | remote.WebSearchOutput;
