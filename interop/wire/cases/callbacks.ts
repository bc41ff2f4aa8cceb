import type { Options, WireCase } from '../case.ts';
import { ask, FENCE, type Scenario, type Step } from '../scenario.ts';

type Hook = NonNullable<NonNullable<Options['hooks']>['PreToolUse']>[number]['hooks'][number];
type OnElicitation = NonNullable<Options['onElicitation']>;
type OnUserDialog = NonNullable<Options['onUserDialog']>;

const INPUT = { session_id: 's', transcript_path: '/t', cwd: '/c', hook_event_name: 'PreToolUse' };
const HOOKED = hookCalls('hook_0');

const HOOKS: Readonly<Record<string, Hook>> = {
  continue: async () => ({ continue: true }),
  'empty object': async () => ({}),
  decision: async () => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      updatedInput: { a: 1 },
      permissionDecisionReason: 'fine',
    },
    systemMessage: 'note',
  }),
  async: async () => ({ async: true, asyncTimeout: 5 }),
  throw: async () => {
    throw new Error('hook exploded');
  },
  'return undefined': (async () => undefined) as unknown as Hook,
  'return null': (async () => null) as unknown as Hook,
  'say what it was given': async (input, toolUseID, { signal, ...rest }) => ({
    systemMessage: JSON.stringify({ input, toolUseID, aborted: signal.aborted, rest }),
  }),
};

const FORM = {
  subtype: 'elicitation',
  mcp_server_name: 'st',
  message: 'Your name?',
  mode: 'form',
  requested_schema: { type: 'object', properties: { name: { type: 'string' } } },
  property_order: ['name'],
};

const ELICITATIONS: Readonly<Record<string, OnElicitation>> = {
  accept: async () => ({ action: 'accept', content: { name: 'Ada' } }),
  decline: async () => ({ action: 'decline' }),
  throw: async () => {
    throw new Error('form exploded');
  },
  'return undefined': (async () => undefined) as unknown as OnElicitation,
  'say what it was given': async (request, { signal: _signal, ...rest }) => ({
    action: 'accept',
    content: { given: JSON.stringify({ request, rest }) },
  }),
};

const DIALOG = {
  subtype: 'request_user_dialog',
  dialog_kind: 'refusal',
  payload: { a: 1 },
  tool_use_id: 'toolu_1',
};

const DIALOGS: Readonly<Record<string, OnUserDialog>> = {
  completed: async () => ({ behavior: 'completed', result: { picked: 1 } }),
  cancelled: async () => ({ behavior: 'cancelled' }),
  throw: async () => {
    throw new Error('dialog exploded');
  },
  'return undefined': (async () => undefined) as unknown as OnUserDialog,
  'say what it was given': async (request, { signal: _signal, ...rest }) => ({
    behavior: 'completed',
    result: { request, rest },
  }),
};

/** The responses to hooks, elicitations, dialogs and unknown requests. */
export const CALLBACK_CASES: readonly WireCase[] = [
  ...Object.entries(HOOKS).map(([name, hook]) => ({
    name: `hook: ${name}`,
    options: () => ({ hooks: { PreToolUse: [{ hooks: [hook] }] } }),
    scenario: HOOKED,
  })),
  {
    name: 'hook: unknown callback id',
    options: () => ({ hooks: { PreToolUse: [{ hooks: [async () => ({})] }] } }),
    scenario: hookCalls('hook_9'),
  },
  { name: 'hook: no hooks at all', scenario: HOOKED },
  {
    name: 'hook: second of two',
    options: () => ({
      hooks: {
        PreToolUse: [{ hooks: [async () => ({ reason: 'a' })] }],
        Stop: [{ hooks: [async () => ({ reason: 'b' })] }],
      },
    }),
    scenario: hookCalls('hook_1'),
  },
  {
    name: 'hook: without tool_use_id',
    options: () => ({
      hooks: {
        Stop: [
          { hooks: [async (_input, id) => ({ systemMessage: JSON.stringify({ id: id ?? 'undefined' }) })] },
        ],
      },
    }),
    scenario: {
      beforeResult: [ask('hook-1', { subtype: 'hook_callback', callback_id: 'hook_0', input: INPUT })],
    },
  },
  {
    name: 'hook: cancelled by the CLI',
    options: () => ({ hooks: { Stop: [{ hooks: [answersWhenCancelled] }] } }),
    scenario: cancelled({ subtype: 'hook_callback', callback_id: 'hook_0', input: INPUT }),
  },
  { name: 'elicitation: no callback', scenario: asked(FORM) },
  ...Object.entries(ELICITATIONS).map(([name, onElicitation]) => ({
    name: `elicitation: ${name}`,
    options: () => ({ onElicitation }),
    scenario: asked(FORM),
  })),
  {
    name: 'elicitation: url',
    options: () => ({ onElicitation: ELICITATIONS['say what it was given'] as OnElicitation }),
    scenario: asked({
      subtype: 'elicitation',
      mcp_server_name: 'st',
      message: 'Log in',
      mode: 'url',
      url: 'http://127.0.0.1:1/',
      elicitation_id: 'e1',
      title: 'T',
      display_name: 'D',
      description: 'X',
    }),
  },
  {
    name: 'elicitation: return null',
    options: () => ({ onElicitation: async () => null }),
    scenario: unanswered(FORM),
  },
  { name: 'dialog: no callback', scenario: unanswered(DIALOG) },
  ...Object.entries(DIALOGS).map(([name, onUserDialog]) => ({
    name: `dialog: ${name}`,
    options: () => ({ onUserDialog, supportedDialogKinds: ['refusal'] }),
    scenario: asked(DIALOG),
  })),
  {
    name: 'dialog: return null',
    options: () => ({ onUserDialog: async () => null }),
    scenario: unanswered(DIALOG),
  },
  { name: 'request: unknown subtype', scenario: asked({ subtype: 'frobnicate', x: 1 }) },
  { name: 'request: no subtype', scenario: unanswered({ x: 1 }) },
  { name: 'request: interrupt from the CLI', scenario: unanswered({ subtype: 'interrupt' }) },
  { name: 'request: initialize from the CLI', scenario: unanswered({ subtype: 'initialize' }) },
];

function asked(request: Readonly<Record<string, unknown>>): Scenario {
  return { beforeResult: [ask('ask-1', request), FENCE] };
}

function unanswered(request: Readonly<Record<string, unknown>>): Scenario {
  return { beforeResult: [{ ...ask('ask-1', request), unawaited: true }, FENCE] };
}

function cancelled(request: Readonly<Record<string, unknown>>): Scenario {
  const cancel: Step = { frame: { type: 'control_cancel_request', request_id: 'ask-1' } };
  const second = ask('fence-2', { subtype: 'no_such_subtype' });
  return { beforeResult: [{ ...ask('ask-1', request), unawaited: true }, FENCE, cancel, second] };
}

function hookCalls(callback: string): Scenario {
  return asked({ subtype: 'hook_callback', callback_id: callback, input: INPUT, tool_use_id: 'toolu_1' });
}

async function answersWhenCancelled(...[, , { signal }]: Parameters<Hook>): ReturnType<Hook> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return { systemMessage: 'cancelled' };
}
