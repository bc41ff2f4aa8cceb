import type { Options, Sdk, UserMessage, WireCase } from '../case.ts';
import { ask, FENCE } from '../scenario.ts';
import { withCalc } from '../servers.ts';

const SESSION = '00000000-0000-4000-8000-0000000000aa';
const plain: UserMessage = {
  type: 'user',
  message: { role: 'user', content: 'one' },
  parent_tool_use_id: null,
};
const full = {
  uuid: SESSION,
  session_id: 'mine',
  priority: 'now',
  parent_tool_use_id: null,
  message: { content: [{ type: 'text', text: 'two' }], role: 'user' },
  type: 'user',
  isSynthetic: true,
  unknown_member: 1,
} as unknown as UserMessage;

async function* yields(...messages: UserMessage[]): AsyncIterable<UserMessage> {
  yield* messages;
}

function failing(): AsyncIterable<UserMessage> {
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('input broke')) }),
  };
}

const state = (name: string) => ({
  frame: { type: 'system', subtype: 'session_state_changed', state: name, sdk_host_only: true },
});
const lateAsk = ask('late', {
  subtype: 'can_use_tool',
  tool_name: 'Bash',
  input: {},
  tool_use_id: 'toolu_1',
});

/** Options that may keep the input of the CLI open after the last streamed message. */
const LISTENERS: Readonly<Record<string, (sdk: Sdk) => Options>> = {
  'an sdk server': withCalc,
  'a stdio server': () => ({ mcpServers: { st: { command: 'node', args: [] } } }),
  canUseTool: () => ({ canUseTool: async () => ({ behavior: 'allow' }) }),
  hooks: () => ({ hooks: { Stop: [{ hooks: [async () => ({})] }] } }),
  'empty hooks': () => ({ hooks: {} }),
  onElicitation: () => ({ onElicitation: async () => ({ action: 'decline' }) }),
  onUserDialog: () => ({ onUserDialog: async () => ({ behavior: 'cancelled' }) }),
  permissionPromptToolName: () => ({ permissionPromptToolName: 'mcp__auth__ask' }),
};

/** Prompts, and when the input of the CLI is closed. */
export const INPUT_CASES: readonly WireCase[] = [
  { name: 'input: empty text', prompt: '' },
  { name: 'input: unicode and newlines', prompt: 'é\n\u2028 "quoted" \u0001 👋' },
  { name: 'input: one streamed message', prompt: () => yields(plain) },
  { name: 'input: a message with every member', prompt: () => yields(full) },
  { name: 'input: two streamed messages', prompt: () => yields(plain, full) },
  {
    name: 'input: verbatim streamed messages',
    prompt: () => yields(plain, full),
    options: () => ({ verbatimPrompts: true }),
  },
  { name: 'input: no message', prompt: () => yields() },
  { name: 'input: a stream that fails', prompt: failing },
  {
    name: 'input: one streamed message, a request before the result',
    prompt: () => yields(plain),
    scenario: { beforeResult: [FENCE] },
  },
  {
    name: 'input: two streamed messages, a request after the first result',
    prompt: () => yields(plain, full),
    scenario: { afterResult: [FENCE] },
  },
  ...Object.entries(LISTENERS).map(([name, options]) => ({
    name: `input: streamed with ${name}, a request before the result`,
    prompt: () => yields(plain),
    options,
    scenario: { beforeResult: [FENCE] },
  })),
  {
    name: 'input: two streamed messages with an sdk server, a request after the first result',
    prompt: () => yields(plain, full),
    options: withCalc,
    scenario: { afterResult: [FENCE] },
  },
  {
    name: 'input: streamed, initialize never answered',
    prompt: () => yields(plain),
    scenario: { replies: { initialize: 'silent' }, beforeResult: [FENCE] },
  },
  {
    name: 'input: streamed with an sdk server, running and idle',
    prompt: () => yields(plain),
    options: withCalc,
    scenario: { beforeResult: [state('running')], afterResult: [FENCE, state('idle')] },
  },
  { name: 'input: streamed with an sdk server', prompt: () => yields(plain), options: withCalc },
  {
    name: 'input: string with an sdk server, a request after the result',
    options: withCalc,
    scenario: { afterResult: [lateAsk] },
  },
  {
    name: 'input: string, a request after the result',
    scenario: { afterResult: [lateAsk] },
  },
  {
    name: 'input: running and idle',
    options: withCalc,
    scenario: { beforeResult: [state('running')], afterResult: [lateAsk, state('idle')] },
  },
  {
    name: 'input: running and idle with nothing bidirectional',
    scenario: { beforeResult: [state('running')], afterResult: [state('idle')] },
  },
  {
    name: 'input: idle before the result',
    options: withCalc,
    scenario: { beforeResult: [state('running'), state('idle')] },
  },
  { name: 'input: the CLI exits with 3 before the result', scenario: { beforeResult: [{ exit: 3 }] } },
  {
    name: 'input: the CLI exits with 3 and a complaint',
    scenario: { beforeResult: [{ stderr: 'it went wrong\n' }, { exit: 3 }] },
  },
  {
    name: 'input: the CLI exits with 3 and a complaint somebody reads',
    options: () => ({ stderr: () => {} }),
    scenario: { beforeResult: [{ stderr: 'it went wrong\n' }, { exit: 3 }] },
  },
  { name: 'input: the CLI writes a line that is not JSON', scenario: { beforeResult: [{ raw: 'oops' }] } },
  { name: 'input: the CLI writes an empty line', scenario: { beforeResult: [{ raw: ' ' }] } },
  { name: 'input: the CLI exits with 0 before the result', scenario: { beforeResult: [{ exit: 0 }] } },
  { name: 'input: the CLI exits with 4 after the result', scenario: { exitCode: 4 } },
  {
    name: 'input: initialize unanswered until the user line',
    scenario: { beforeReply: { initialize: [{ until: 'user' }] } },
  },
  {
    name: 'input: frames the SDK does not know',
    scenario: {
      beforeResult: [
        { frame: { type: 'keep_alive' } },
        { frame: { type: 'never_heard_of' } },
        { frame: { type: 'control_cancel_request', request_id: 'unknown' } },
        { frame: { type: 'control_response', response: { subtype: 'success', request_id: 'unknown' } } },
      ],
    },
  },
];
