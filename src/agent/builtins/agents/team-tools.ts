import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn, type Members } from '../built-in.ts';

const TASK_ID = {
  taskId: { type: 'string', minLength: 1, description: 'The id of the task.' },
} as const satisfies Members;

/** Starts a task of the task list. */
export const CLAIM_TASK = defineBuiltIn({
  name: 'ClaimTask',
  description:
    'Claims a task of the task list for you, so that no other agent works on it: the task with the given id, or the first that is ' +
    'pending and not blocked. Returns the task, and the directory to work in if the task has a git worktree.',
  annotations: { title: 'Claim a task', readOnlyHint: false, destructiveHint: false },
  approval: 'never',
  required: {},
  optional: TASK_ID,
  completed: withTaskId,
  async run({ taskId }, { services: { team } }, signal) {
    return team ? team.claim(taskId, signal) : unavailable('ClaimTask');
  },
});

/** Completes a task that the agent has started. */
export const COMPLETE_TASK = defineBuiltIn({
  name: 'CompleteTask',
  description:
    'Completes the task that you have claimed. Only for a task that is done entirely. If you work in a git worktree of the ' +
    'task, its changes are committed and merged into the branch of the project.',
  annotations: { title: 'Complete a task', readOnlyHint: false, destructiveHint: false },
  approval: 'in-plan-mode',
  required: {},
  optional: TASK_ID,
  completed: withTaskId,
  async run({ taskId }, { services: { team } }, signal) {
    return team ? team.complete(taskId, signal) : unavailable('CompleteTask');
  },
});

/** Sends a plan to the lead. */
export const SUBMIT_PLAN = defineBuiltIn({
  name: 'SubmitPlan',
  description:
    'Sends your plan to the lead of the team for approval. In plan mode you may change files only after it is approved.',
  annotations: { title: 'Submit a plan', readOnlyHint: false, destructiveHint: false },
  approval: 'never',
  required: { plan: { type: 'string', minLength: 1, description: 'The plan, with the files to change.' } },
  optional: {},
  async run({ plan }, { services: { team } }) {
    return team ? team.submitPlan(plan) : unavailable('SubmitPlan');
  },
});

/** Other agents name the id `task_id`, and give it as a number. */
function withTaskId({ task_id, ...input }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { taskId = task_id, ...others } = input;
  return {
    ...others,
    ...(taskId !== undefined && { taskId: typeof taskId === 'number' ? String(taskId) : taskId }),
  };
}

function unavailable(tool: string) {
  return failedOutcome(`${tool} is not available in this session`);
}
