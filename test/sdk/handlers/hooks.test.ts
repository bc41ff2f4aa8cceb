import { expect, test } from 'vitest';
import { registerHooks, runHook } from '../../../src/sdk/handlers/hooks.ts';
import type { HookCallback } from '../../../src/sdk/options/options.ts';

const a: HookCallback = async () => ({ continue: true });
const b: HookCallback = async (input, toolUseID) => ({
  systemMessage: `${input.hook_event_name} ${toolUseID}`,
});
const signal = AbortSignal.abort('over');

test('callbacks have unique ids over all events; unset members are omitted (R63)', () => {
  const hooks = registerHooks({
    PreToolUse: [{ matcher: 'Bash', hooks: [a, b], timeout: 5 }, { hooks: [a] }],
    Notification: [],
    Stop: [
      { hooks: [b], onFailure: 'continue' },
      { matcher: '', hooks: [] },
    ],
  });
  expect(hooks).toEqual({
    wire: {
      PreToolUse: [
        { matcher: 'Bash', hookCallbackIds: ['hook_0', 'hook_1'], timeout: 5 },
        { hookCallbackIds: ['hook_2'] },
      ],
      Stop: [
        { hookCallbackIds: ['hook_3'], onFailure: 'continue' },
        { matcher: '', hookCallbackIds: [] },
      ],
    },
    callbacks: expect.any(Map),
  });
  expect([...hooks.callbacks].map(([id, { hook, event }]) => [id, hook, event])).toEqual([
    ['hook_0', a, 'PreToolUse'],
    ['hook_1', b, 'PreToolUse'],
    ['hook_2', a, 'PreToolUse'],
    ['hook_3', b, 'Stop'],
  ]);
});

const failing = async () => {
  throw new Error('oops');
};
const nonsense = (async () => 'deny') as unknown as typeof a;
const call = (hooks: ReturnType<typeof registerHooks>) =>
  runHook(hooks, { callback_id: 'hook_0', input: {} }, new AbortController().signal);

test.each([
  [
    'PreToolUse',
    {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'A PreToolUse hook failed: oops',
      },
    },
  ],
  [
    'PermissionRequest',
    {
      hookSpecificOutput: {
        hookEventName: 'PermissionRequest',
        decision: { behavior: 'deny', message: 'A PermissionRequest hook failed: oops' },
      },
    },
  ],
  ['UserPromptSubmit', { decision: 'block', reason: 'A UserPromptSubmit hook failed: oops' }],
] as const)('a failing %s hook blocks the guarded action', async (event, answer) => {
  expect(await call(registerHooks({ [event]: [{ hooks: [failing] }] }))).toEqual(answer);
});

test('an output that is not an object is a failure', async () => {
  expect(await call(registerHooks({ UserPromptSubmit: [{ hooks: [nonsense] }] }))).toEqual({
    decision: 'block',
    reason: 'A UserPromptSubmit hook failed: the hook returned a string, not an object',
  });
});

test.each([
  ['onFailure says so', { PreToolUse: [{ hooks: [failing], onFailure: 'continue' as const }] }],
  ['onFailure makes it block', { PreToolUse: [{ hooks: [failing], onFailure: 'block' as const }] }],
  ['the event guards nothing', { PostToolUse: [{ hooks: [failing] }] }],
])('a failure is reported to the agent where %s', async (_, hooks) => {
  await expect(call(registerHooks(hooks))).rejects.toThrow('oops');
});

test.each([
  [undefined, undefined],
  [{}, {}],
  [{ Stop: [] }, {}],
])('hooks %j are %j on the wire (C35)', (given, wire) => {
  expect(registerHooks(given)).toEqual({ wire, callbacks: new Map() });
});

test('a hook gets input, tool use id and signal; its return value is the response', async () => {
  const seen: unknown[] = [];
  const hooks = registerHooks({
    PreToolUse: [
      {
        hooks: [
          async (...args) => {
            seen.push(args);
            return { decision: 'block', hookSpecificOutput: { hookEventName: 'PreToolUse' } };
          },
        ],
      },
    ],
  });
  const input = { hook_event_name: 'PreToolUse', tool_name: 't' };
  const answer = await runHook(hooks, { callback_id: 'hook_0', input, tool_use_id: 'toolu_1' }, signal);
  expect([seen, answer]).toEqual([
    [[input, 'toolu_1', { signal }]],
    { decision: 'block', hookSpecificOutput: { hookEventName: 'PreToolUse' } },
  ]);
});

test('the tool use id is undefined without a tool use', async () => {
  const hooks = registerHooks({ Stop: [{ hooks: [b] }] });
  expect(await runHook(hooks, { callback_id: 'hook_0', input: { hook_event_name: 'Stop' } }, signal)).toEqual(
    {
      systemMessage: 'Stop undefined',
    },
  );
});

test.each(['hook_9', 'toString', undefined])('an unknown id (%s) is rejected by name', async (id) => {
  await expect(
    runHook(registerHooks({ Stop: [{ hooks: [a] }] }), { callback_id: id }, signal),
  ).rejects.toThrow(`No hook callback found for ID: ${id}`);
});
