import type { ExitPlanModeOutput } from '../../../protocol/tools/task-tools.ts';
import { failedOutcome, type ToolOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';

const ENTERED =
  'Plan mode is active now. Read and search to understand the task, write the plan to the plan file, and call ' +
  'ExitPlanMode to have it approved. Change nothing else until then.';
const NOT_ACTIVE =
  'Plan mode is not active. Call EnterPlanMode to enter it; if the plan was approved already, carry it out.';

/** Enters plan mode. */
export const ENTER_PLAN_MODE = defineBuiltIn({
  name: 'EnterPlanMode',
  description:
    'Enters plan mode, in which you may only read, and write a plan that the user approves. Use it before work that is not ' +
    'trivial: new features, several possible designs, changes of many files. Do not use it for small fixes and questions.',
  annotations: { title: 'EnterPlanMode', readOnlyHint: false, destructiveHint: false },
  approval: 'never',
  required: {},
  optional: {},
  completed: () => ({}),
  async run(_, { services: { planMode } }) {
    if (!planMode) return failedOutcome('EnterPlanMode is not available in this session');
    await planMode.enter();
    return { content: ENTERED, isError: false, programResult: { message: ENTERED } };
  },
});

/** Asks for approval of the plan, and leaves plan mode. The input contains the plan of the plan file. */
export const EXIT_PLAN_MODE = defineBuiltIn({
  name: 'ExitPlanMode',
  description:
    'Asks the user to approve the plan that you have written to the plan file, and leaves plan mode if they do. Takes no ' +
    'parameters. Use it only for plans of changes, not after mere research.',
  annotations: { title: 'ExitPlanMode', readOnlyHint: false, destructiveHint: false },
  needsPerson: true,
  required: {},
  optional: {},
  unlisted: { plan: { type: 'string' }, planFilePath: { type: 'string' } },
  completed: (_, { planMode }) => {
    const plan = planMode?.plan();
    return planMode && plan !== undefined ? { plan, planFilePath: planMode.file } : {};
  },
  refusal: (_, { planMode }) =>
    planMode?.isActive ? undefined : `<tool_use_error>${NOT_ACTIVE}</tool_use_error>`,
  async run(input, { services: { planMode } }) {
    if (!planMode) return failedOutcome('ExitPlanMode is not available in this session');
    const stored = planMode.plan();
    // The answer to the permission request may contain another plan.
    const { plan: given } = input as { readonly plan?: string };
    const plan = given ?? stored;
    const isEdited = plan !== stored;
    if (isEdited && plan !== undefined) planMode.writePlan(plan);
    await planMode.leave();
    return approved(plan, planMode.file, isEdited);
  },
});

function approved(plan: string | undefined, filePath: string, isEdited: boolean): ToolOutcome {
  const result: ExitPlanModeOutput = {
    plan: plan ?? null,
    isAgent: false,
    filePath,
    ...(isEdited && { planWasEdited: true }),
  };
  if (plan === undefined)
    return {
      content: 'User has approved exiting plan mode. You can now proceed.',
      isError: false,
      programResult: result,
    };
  const text = [
    'User has approved your plan. You can now carry it out.',
    `The plan is stored in: ${filePath}`,
    `## Approved Plan${isEdited ? ' (edited by user)' : ''}:\n${plan}`,
  ].join('\n\n');
  return { content: text, isError: false, programResult: result };
}
