import type { Options, WireCase } from '../case.ts';
import { ask, FENCE, type Scenario } from '../scenario.ts';

type CanUseTool = NonNullable<Options['canUseTool']>;

const REQUEST = {
  subtype: 'can_use_tool',
  tool_name: 'mcp__calc__add',
  mcp_server: { name: 'calc', source: 'sdk' },
  display_name: 'Add',
  title: 'Add numbers',
  description: 'Adds',
  input: { a: 1, b: 2 },
  permission_suggestions: [{ type: 'setMode', mode: 'plan', destination: 'session' }],
  blocked_path: '/elsewhere',
  decision_reason: 'because',
  tool_use_id: 'toolu_1',
  agent_id: 'agent_1',
};
const ASKED: Scenario = { beforeResult: [ask('ask-1', REQUEST), FENCE] };
const UNANSWERED: Scenario = { beforeResult: [{ ...ask('ask-1', REQUEST), unawaited: true }, FENCE] };

const ANSWERS: Readonly<Record<string, CanUseTool>> = {
  allow: async (_name, input) => ({ behavior: 'allow', updatedInput: input }),
  'allow without updatedInput': async () => ({ behavior: 'allow' }),
  'allow with everything': async (_name, _input, { suggestions }) => ({
    decisionClassification: 'user_permanent',
    updatedPermissions: suggestions ?? [],
    updatedInput: { a: 9 },
    behavior: 'allow',
  }),
  'allow with its own toolUseID': async () => ({ behavior: 'allow', toolUseID: 'mine', updatedInput: {} }),
  deny: async () => ({ behavior: 'deny', message: 'no' }),
  'deny and interrupt': async () => ({ behavior: 'deny', message: 'no', interrupt: true }),
  'throw an Error': async () => {
    throw new Error('host exploded');
  },
  'throw a text': async () => {
    throw 'just text';
  },
  'return undefined': (async () => undefined) as unknown as CanUseTool,
  'return nonsense': (async () => ({ hello: 'world' })) as unknown as CanUseTool,
  'return an unknown behavior': (async () => ({ behavior: 'maybe' })) as unknown as CanUseTool,
  'return a text': (async () => 'yes') as unknown as CanUseTool,
  'deny without a message': (async () => ({ behavior: 'deny' })) as unknown as CanUseTool,
  'allow with a wrong updatedInput': (async () => ({
    behavior: 'allow',
    updatedInput: 'x',
  })) as unknown as CanUseTool,
  'say what it was given': async (name, input, { signal, ...rest }) => ({
    behavior: 'deny',
    message: JSON.stringify({ name, input, aborted: signal.aborted, rest }),
  }),
};

/** What `canUseTool` returns, and the reply that becomes. */
export const PERMISSION_CASES: readonly WireCase[] = [
  ...Object.entries(ANSWERS).map(([name, canUseTool]) => ({
    name: `canUseTool: ${name}`,
    options: () => ({ canUseTool }),
    scenario: ASKED,
  })),
  {
    name: 'canUseTool: return null',
    options: () => ({ canUseTool: async () => null }),
    scenario: UNANSWERED,
  },
  { name: 'canUseTool: absent', scenario: ASKED },
  {
    name: 'canUseTool: minimal request',
    options: () => ({
      canUseTool: async (name, input, { signal: _signal, ...rest }) => ({
        behavior: 'deny',
        message: JSON.stringify({ name, input, rest }),
      }),
    }),
    scenario: {
      beforeResult: [
        ask('ask-1', { subtype: 'can_use_tool', tool_name: 'Bash', input: {}, tool_use_id: 't' }),
      ],
    },
  },
  {
    name: 'canUseTool: cancelled by the CLI, then answered',
    options: () => ({ canUseTool: answersWhenCancelled }),
    scenario: {
      beforeResult: [
        { ...ask('ask-1', REQUEST), unawaited: true },
        FENCE,
        { frame: { type: 'control_cancel_request', request_id: 'ask-1' } },
        ask('fence-2', { subtype: 'no_such_subtype' }),
      ],
    },
  },
  {
    name: 'canUseTool: the same request id twice',
    options: () => ({ canUseTool: async () => ({ behavior: 'allow' }) }),
    scenario: { beforeResult: [ask('ask-1', REQUEST), ask('ask-1', REQUEST), FENCE] },
  },
  {
    name: 'canUseTool: pending in the initialize reply',
    options: () => ({ canUseTool: async () => ({ behavior: 'allow' }) }),
    scenario: {
      replies: {
        initialize: {
          response: {
            commands: [],
            agents: [],
            output_style: '',
            available_output_styles: [],
            models: [],
            account: {},
          },
          pending_permission_requests: [{ type: 'control_request', request_id: 'ask-0', request: REQUEST }],
        },
      },
      beforeResult: [{ until: 'reply:ask-0' }],
    },
  },
];

const answersWhenCancelled: CanUseTool = async (_name, _input, { signal }) => {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return { behavior: 'allow' };
};
