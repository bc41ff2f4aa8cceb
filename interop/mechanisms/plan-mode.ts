import { join } from 'node:path';
import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { type Message, options, type Sandbox, type Sdk } from '../program.ts';

type Call = readonly [tool: string, input: object | 'plan'];
type Answer = (input: Record<string, unknown>) => object;

const WRITE: Call = ['Write', 'plan'];
const EXIT: Call = ['ExitPlanMode', {}];
const allow: Answer = (input) => ({ behavior: 'allow', updatedInput: input });

const CASES: readonly [
  name: string,
  mode: 'plan' | 'default' | 'acceptEdits',
  calls: readonly Call[],
  answer: Answer,
][] = [
  ['approved', 'plan', [WRITE, EXIT], allow],
  [
    'edited',
    'plan',
    [WRITE, EXIT],
    (input) => ({ behavior: 'allow', updatedInput: { ...input, plan: '# Better\n' } }),
  ],
  [
    'another mode',
    'plan',
    [WRITE, EXIT],
    (input) => ({
      behavior: 'allow',
      updatedInput: input,
      updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
    }),
  ],
  ['denied', 'plan', [WRITE, EXIT], () => ({ behavior: 'deny', message: 'not this plan' })],
  ['no plan', 'plan', [EXIT], allow],
  ['not in plan mode', 'default', [EXIT], allow],
  ['entered by the model', 'acceptEdits', [['EnterPlanMode', {}], WRITE, EXIT], allow],
];

const STEPS = CASES.flatMap(([, , calls]) => [...calls, undefined]);

export const script = ({ messages }: MessagesRequest, n: number) => {
  const call = STEPS[n - 1];
  if (!call) return text('Done.');
  const [name, input] = call;
  if (input !== 'plan') return toolUse(name, input);
  // A reminder names the plan file.
  const [path = ''] =
    /[^\s"\\]+\/plans\/[\w-]+\.md/.exec(JSON.stringify(messages).replaceAll('\\n', ' ')) ?? [];
  return toolUse(name, { file_path: path, content: '# The plan\n' });
};

/** Plan mode: who is asked for what, the answers to a plan, and the modes that follow. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const all: Record<string, unknown> = {};
  for (const [name, permissionMode, , answer] of CASES) {
    const asked: unknown[] = [];
    const seen: unknown[] = [];
    const query = sdk.query({
      prompt: 'Plan it.',
      options: {
        ...options(sandbox),
        cwd: join(sandbox.cwd),
        permissionMode,
        tools: ['Read', 'Write', 'EnterPlanMode', 'ExitPlanMode'],
        canUseTool: async (tool, input, { displayName }) => {
          asked.push({ tool, input, displayName });
          return answer(input) as never;
        },
      },
    });
    for await (const message of query) seen.push(...outline(message));
    all[name] = { asked, seen };
  }
  return JSON.parse(JSON.stringify(all).replaceAll(/[^\s"]+\/plans\/[\w-]+\.md/g, '<plan file>'));
}

function outline(message: Message): unknown[] {
  if (message.type === 'assistant')
    return message.message.content.flatMap((it) =>
      it.type === 'tool_use' ? [{ name: it.name, input: it.input }] : [],
    );
  if (message.type === 'user') {
    const { tool_use_result: result } = message;
    const isEntered = typeof result === 'object' && result !== null && 'message' in result;
    return [isEntered ? 'entered' : typeof result === 'string' ? 'error' : result];
  }
  if (message.type === 'result') return [message.permission_denials];
  if (message.type !== 'system') return [];
  if (message.subtype === 'init') return [{ mode: message.permissionMode }];
  return message.subtype === 'status' ? [{ status: message.status, mode: message.permissionMode }] : [];
}
