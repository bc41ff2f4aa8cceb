import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const CALLS: readonly [tool: string, input: object][] = [
  ['TaskCreate', { subject: 'Build', description: 'the app', activeForm: 'Building' }],
  ['TaskCreate', { subject: 'Test', description: 'all of it', metadata: { a: 1, b: 2 } }],
  ['TaskCreate', { subject: 'Ship', description: '' }],
  ['TaskCreate', { subject: 'Never', description: 'refused' }],
  ['TaskUpdate', { taskId: '2', addBlockedBy: ['1', '77'] }],
  ['TaskUpdate', { taskId: '2', addBlocks: ['3'], subject: 'Test it', owner: 'you', metadata: { a: null } }],
  ['TaskUpdate', { taskId: '1', addBlocks: ['2'] }],
  ['TaskUpdate', { taskId: '1', owner: 'me', status: 'in_progress' }],
  ['TaskUpdate', { taskId: '3', status: 'completed' }],
  ['TaskList', {}],
  ['TaskGet', { taskId: '2' }],
  ['TaskGet', { taskId: '9' }],
  ['TaskUpdate', { taskId: '9', status: 'completed' }],
  ['TaskUpdate', { taskId: '1', status: 'completed' }],
  ['TaskList', {}],
  ['TaskUpdate', { taskId: '2', status: 'deleted' }],
  ['TaskGet', { taskId: '3' }],
  ['TaskUpdate', { taskId: '5', status: 'deleted' }],
  ['TaskCreate', { subject: 'More', description: 'm' }],
];
const RESUMED: typeof CALLS = [['TaskList', {}]];

export const script = (_: unknown, n: number) => {
  const steps = [...CALLS, undefined, ...RESUMED, undefined];
  const call = steps[n - 1];
  return call ? toolUse(...call) : text('Done.');
};

/** The task list: what the tools return, what hooks see and refuse, and that a resumed session has the tasks. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const hooked: unknown[] = [];
  const results: unknown[] = [];
  const asked: string[] = [];
  const hook = async (input: object) => {
    const { hook_event_name, task_id, task_subject, task_description } = input as Record<string, unknown>;
    hooked.push({ hook_event_name, task_id, task_subject, task_description });
    const isRefused =
      task_subject === 'Never' || (task_subject === 'Ship' && hook_event_name === 'TaskCompleted');
    return isRefused ? { decision: 'block' as const, reason: 'not that' } : {};
  };
  const ask = async (resume?: string): Promise<string> => {
    let session = '';
    const query = sdk.query({
      prompt: 'Go.',
      options: {
        ...options(sandbox),
        ...(resume !== undefined && { resume }),
        tools: ['TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'],
        canUseTool: async (name, input) => {
          asked.push(name);
          return { behavior: 'allow', updatedInput: input };
        },
        hooks: { TaskCreated: [{ hooks: [hook] }], TaskCompleted: [{ hooks: [hook] }] },
      },
    });
    for await (const message of query) {
      session = message.session_id ?? session;
      if (message.type === 'user') results.push(message.tool_use_result);
      if (message.type === 'system' && message.subtype === 'init') results.push(message.tools);
    }
    return session;
  };
  await ask(await ask());
  return { hooked, results, asked, model: sandbox.api.requests.map(toolResults) };
}
