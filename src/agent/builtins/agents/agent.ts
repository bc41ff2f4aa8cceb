import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import { EFFORT_LEVELS } from '../../../protocol/system-message.ts';
import { failedOutcome } from '../../loop/run-calls.ts';
import { type BuiltIn, defineBuiltIn, type Members } from '../built-in.ts';

/** The type of a sub-agent that is started without one. */
export const DEFAULT_AGENT_TYPE = 'general-purpose';

const DESCRIPTION =
  'Gives a task to a sub-agent. The sub-agent does not see this conversation: the prompt must contain all the information ' +
  'the sub-agent needs, and what to report. Several calls in one message run concurrently.';

const IN_BACKGROUND =
  'By default the sub-agent runs in the background: the call returns at once, and you are notified when the sub-agent has ' +
  'ended. Its report is unknown until then. With run_in_background: false the call waits and returns the report.';

const RUN_IN_BACKGROUND = {
  run_in_background: { type: 'boolean', description: 'Whether the call returns at once; true by default.' },
} as const satisfies Members;

const IN_TEAM =
  'A sub-agent with a name that runs in the background is a teammate: it keeps its conversation, gets messages, and claims ' +
  'tasks of the task list that are not blocked whenever it has nothing else to do. Create the tasks first, then start teammates.';

const TEAM_MEMBERS = {
  team_name: { type: 'string', description: 'Has no effect: a session has one team.' },
  mode: {
    type: 'string',
    enum: PERMISSION_MODES,
    description:
      'In mode "plan" a teammate changes nothing before you approve its plan. Other modes have no effect: the user chooses them.',
  },
} as const satisfies Members;

/** Starts sub-agents. */
export const AGENT = defineAgentTool(true);
/** `AGENT` for sessions with teams. */
export const TEAM_AGENT = defineAgentTool(true, true);
/**
 * `AGENT` for sessions without background work: each call waits for the report and `run_in_background` is ignored, as
 * with the `claude` CLI.
 */
export const FOREGROUND_AGENT = defineAgentTool(false);

function defineAgentTool(mayRunInBackground: boolean, hasTeams = false): BuiltIn {
  const more = [...(mayRunInBackground ? [IN_BACKGROUND] : []), ...(hasTeams ? [IN_TEAM] : [])];
  return defineBuiltIn({
    name: 'Agent',
    description: [DESCRIPTION, ...more].join(' '),
    annotations: { title: 'Delegate', readOnlyHint: false, destructiveHint: false },
    required: {
      description: { type: 'string', minLength: 1, description: 'The task in three to five words.' },
      prompt: { type: 'string', minLength: 1, description: 'The instructions for the sub-agent.' },
    },
    optional: {
      subagent_type: {
        type: 'string',
        minLength: 1,
        description: `The type of sub-agent; ${DEFAULT_AGENT_TYPE} by default.`,
      },
      model: { type: 'string', minLength: 1, description: 'Overrides the model of the sub-agent.' },
      effort: {
        type: 'string',
        enum: [...EFFORT_LEVELS],
        description: 'Overrides how thorough the sub-agent is.',
      },
      ...(mayRunInBackground ? RUN_IN_BACKGROUND : {}),
      isolation: {
        type: 'string',
        enum: ['worktree'],
        description:
          'worktree: the sub-agent works in a git worktree of its own, which is removed if it changes nothing.',
      },
      name: {
        type: 'string',
        minLength: 1,
        description: 'A name that SendMessage and TaskStop accept, besides the id.',
      },
      ...(hasTeams ? TEAM_MEMBERS : {}),
    },
    ...(mayRunInBackground ? {} : { unlisted: RUN_IN_BACKGROUND }),
    approval: 'in-plan-mode',
    concurrency: 'others',
    async run(input, { services, toolUseId }, signal) {
      if (!services.agents) return failedOutcome('Agent is not available in this session');
      const {
        description,
        prompt,
        subagent_type: type = DEFAULT_AGENT_TYPE,
        name,
        model,
        effort,
        isolation,
      } = input;
      const isBackground =
        mayRunInBackground && (input as { run_in_background?: boolean }).run_in_background !== false;
      const isIsolated = isolation === 'worktree';
      // The model can only restrict a teammate: all other modes may allow more than that of the session.
      const mode = (input as { mode?: PermissionMode }).mode === 'plan' ? ('plan' as const) : undefined;
      const request = {
        ...{ toolUseId, description, prompt, type, name, model, effort },
        ...{ isBackground, isIsolated, mode },
      };
      return services.agents.start(request, signal);
    },
  });
}
