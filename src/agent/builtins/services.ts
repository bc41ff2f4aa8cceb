import type { Lists } from '../task-list/lists.ts';
import type { Schedule } from '../tasks/schedule.ts';
import type { SessionWorktree } from '../tasks/session-worktree.ts';
import type { AgentService } from './agents/agent-service.ts';
import type { TeamService } from './agents/team-service.ts';
import type { PlanMode } from './session/plan-mode.ts';
import type { SkillService } from './session/skill-service.ts';
import type { WebService } from './web/page-cache.ts';

/** The mechanisms that the tools of one agent use. A tool whose service is missing refuses its calls. */
export type Services = {
  readonly agents?: AgentService;
  readonly team?: TeamService;
  readonly skills?: SkillService;
  readonly web?: WebService;
  /** The todo list and the task list. */
  readonly lists?: Lists;
  readonly planMode?: PlanMode;
  readonly schedule?: Pick<Schedule, 'create' | 'list' | 'remove' | 'wakeUp' | 'stopWakeUps' | 'summaries'>;
  readonly worktree?: Pick<SessionWorktree, 'enter' | 'exit' | 'nameFault'>;
};
