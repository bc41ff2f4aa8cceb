import { AGENT, FOREGROUND_AGENT, TEAM_AGENT } from './agents/agent.ts';
import { LIST_AGENTS, SEND_MESSAGE, TEAM_SEND_MESSAGE } from './agents/message-tools.ts';
import { CLAIM_TASK, COMPLETE_TASK, SUBMIT_PLAN } from './agents/team-tools.ts';
import type { BuiltIn } from './built-in.ts';
import { EDIT } from './files/edit.ts';
import { NOTEBOOK_EDIT } from './files/notebook-edit.ts';
import { READ } from './files/read.ts';
import { WRITE } from './files/write.ts';
import { TASK_CREATE, TASK_GET, TASK_LIST, TASK_UPDATE } from './lists/task-tools.ts';
import { TODO_WRITE_TOOL } from './lists/todo-write.ts';
import { CONNECT_MCP, LIST_MCP_RESOURCES, READ_MCP_RESOURCE } from './mcp-tools.ts';
import { GLOB } from './search/glob.ts';
import { GREP } from './search/grep.ts';
import { ASK_USER_QUESTION } from './session/ask-user-question.ts';
import { ENTER_PLAN_MODE, EXIT_PLAN_MODE } from './session/plan-tools.ts';
import { CRON_CREATE, CRON_DELETE, CRON_LIST, SCHEDULE_WAKEUP } from './session/schedule-tools.ts';
import { SKILL } from './session/skill.ts';
import { ENTER_WORKTREE, EXIT_WORKTREE } from './session/worktree-tools.ts';
import { BASH, FOREGROUND_BASH } from './shell/bash.ts';
import { MONITOR } from './shell/monitor.ts';
import { TASK_STOP } from './shell/task-stop.ts';
import { SLEEP } from './sleep.ts';
import { TOOL_SEARCH } from './tool-search.ts';
import { WEB_FETCH } from './web/web-fetch.ts';
import { WEB_SEARCH } from './web/web-search.ts';

/** What decides which built-in tools a session offers. */
export type BuiltInGates = {
  /** The requested tools; undefined for the default set. */
  readonly names?: readonly string[] | undefined;
  /** Whether calls may return before their work has ended. */
  readonly hasBackgroundTasks: boolean;
  /** Whether the program or the chat answers permission requests. */
  readonly hasPerson: boolean;
  /** Which tools work on lists, and whether the default set contains them. */
  readonly lists: { readonly kind: 'tasks' | 'todos'; readonly isDefault: boolean };
  /** Whether prompts can be scheduled. */
  readonly hasSchedule?: boolean;
  /** Whether named agents in the background form a team, which works on tasks. */
  readonly hasTeams?: boolean;
  /** Whether the model's API searches the web. */
  readonly canSearchWeb?: boolean;
};

/** A row of the table: a tool, and which sessions offer it. */
type BuiltInRow = {
  readonly tool: BuiltIn;
  /** Whether a session can offer the tool at all; by default every session can. */
  readonly isAvailable?: (gates: BuiltInGates) => boolean;
  /** Whether the default set contains the tool; by default it does. */
  readonly isDefault?: (gates: BuiltInGates) => boolean;
};

const inBackground = { isAvailable: ({ hasBackgroundTasks }: BuiltInGates) => hasBackgroundTasks };
const onSchedule = { isAvailable: ({ hasSchedule }: BuiltInGates) => hasSchedule !== false };
const inTeams = {
  isAvailable: ({ hasTeams }: BuiltInGates) => hasTeams === true,
};
const withoutTeams = { isAvailable: (gates: BuiltInGates) => !inTeams.isAvailable(gates) };
const inForeground = { isAvailable: ({ hasBackgroundTasks }: BuiltInGates) => !hasBackgroundTasks };

const withPerson = { isAvailable: ({ hasPerson }: BuiltInGates) => hasPerson };
const withTasks = listGate('tasks');
const withTodos = listGate('todos');

function listGate(kind: BuiltInGates['lists']['kind']) {
  return {
    isAvailable: ({ lists }: BuiltInGates) => lists.kind === kind,
    isDefault: ({ lists }: BuiltInGates) => lists.isDefault,
  };
}

/** One row per tool, or per variant of a tool, sorted by name. Implementations are loaded on first use. */
const ROWS: readonly BuiltInRow[] = [
  {
    tool: AGENT,
    isAvailable: (gates) => inBackground.isAvailable(gates) && withoutTeams.isAvailable(gates),
  },
  { tool: TEAM_AGENT, ...inTeams },
  { tool: FOREGROUND_AGENT, ...inForeground },
  { tool: ASK_USER_QUESTION, ...withPerson },
  { tool: BASH, ...inBackground },
  { tool: FOREGROUND_BASH, ...inForeground },
  { tool: CLAIM_TASK, ...inTeams },
  { tool: COMPLETE_TASK, ...inTeams },
  { tool: CRON_CREATE, ...onSchedule },
  { tool: CRON_DELETE, ...onSchedule },
  { tool: CRON_LIST, ...onSchedule },
  { tool: EDIT },
  { tool: ENTER_PLAN_MODE, ...withPerson },
  { tool: EXIT_PLAN_MODE, ...withPerson },
  { tool: ENTER_WORKTREE },
  { tool: EXIT_WORKTREE },
  { tool: GLOB },
  { tool: GREP },
  { tool: LIST_MCP_RESOURCES },
  { tool: LIST_AGENTS },
  { tool: MONITOR },
  { tool: NOTEBOOK_EDIT },
  { tool: READ },
  { tool: READ_MCP_RESOURCE },
  { tool: SCHEDULE_WAKEUP },
  { tool: SEND_MESSAGE, ...withoutTeams },
  { tool: TEAM_SEND_MESSAGE, ...inTeams },
  { tool: SKILL },
  { tool: SLEEP },
  { tool: SUBMIT_PLAN, ...inTeams },
  { tool: TASK_STOP },
  { tool: TASK_CREATE, ...withTasks },
  { tool: TASK_GET, ...withTasks },
  { tool: TASK_LIST, ...withTasks },
  { tool: TASK_UPDATE, ...withTasks },
  { tool: TODO_WRITE_TOOL, ...withTodos },
  { tool: TOOL_SEARCH },
  { tool: WEB_FETCH },
  { tool: WEB_SEARCH, isDefault: ({ canSearchWeb }) => canSearchWeb === true },
  { tool: WRITE },
  { tool: CONNECT_MCP },
];

/** All built-in tools, sorted by name; of a tool with variants, the one with background work. */
export const BUILT_INS: readonly BuiltIn[] = [
  ...new Map(ROWS.toReversed().map(({ tool }) => [tool.listed.name, tool])).values(),
].toReversed();

/** The built-in tools of a session. */
export function offeredBuiltIns(gates: BuiltInGates): readonly BuiltIn[] {
  const { names } = gates;
  const isOffered = ({ tool, isAvailable, isDefault }: BuiltInRow) => {
    if (isAvailable && !isAvailable(gates)) return false;
    return names ? names.includes(tool.listed.name) : (isDefault?.(gates) ?? true);
  };
  return ROWS.filter(isOffered).map(({ tool }) => tool);
}
