import { expect, test } from 'vitest';
import { NO_REPLY } from '../../src/control/channel.ts';
import type { PermissionResult } from '../../src/protocol/permission.ts';
import type { CanUseTool } from '../../src/sdk/callbacks.ts';
import { askPermission } from '../../src/sdk/permission.ts';

const signal = new AbortController().signal;
const served = { id: 'ask-1', signal, reply() {} };
const body = { tool_name: 'mcp__calc__add', input: { a: 1 }, tool_use_id: 'toolu_1' };
const NO_DECISION = {
  behavior: 'deny',
  message: 'canUseTool returned no decision: return { behavior: "allow" } or { behavior: "deny", message }',
  toolUseID: 'toolu_1',
};

test.each<[string, unknown, unknown]>([
  ['allow', { behavior: 'allow' }, { behavior: 'allow', toolUseID: 'toolu_1' }],
  [
    'allow with a changed input',
    { behavior: 'allow', updatedInput: { a: 2 } },
    { behavior: 'allow', updatedInput: { a: 2 }, toolUseID: 'toolu_1' },
  ],
  [
    'allow from now on',
    { behavior: 'allow', updatedPermissions: [{ type: 'setMode', mode: 'plan', destination: 'session' }] },
    {
      behavior: 'allow',
      updatedPermissions: [{ type: 'setMode', mode: 'plan', destination: 'session' }],
      toolUseID: 'toolu_1',
    },
  ],
  ['deny', { behavior: 'deny', message: 'no' }, { behavior: 'deny', message: 'no', toolUseID: 'toolu_1' }],
  [
    'deny and stop',
    { behavior: 'deny', message: 'no', interrupt: true },
    { behavior: 'deny', message: 'no', interrupt: true, toolUseID: 'toolu_1' },
  ],
  [
    'another id of its own',
    { behavior: 'allow', toolUseID: 'mine' },
    { behavior: 'allow', toolUseID: 'toolu_1' },
  ],
  ['null: answered elsewhere', null, NO_REPLY],
  ['undefined', undefined, NO_DECISION],
  ['true', true, NO_DECISION],
  ['a text', 'allow', NO_DECISION],
  ['an object that is none', { hello: 'world' }, NO_DECISION],
  ['an unknown word', { behavior: 'maybe' }, NO_DECISION],
  ['allow with an input that is none', { behavior: 'allow', updatedInput: 'x' }, NO_DECISION],
  ['deny without a message', { behavior: 'deny' }, NO_DECISION],
  [
    'deny without a message still stops',
    { behavior: 'deny', interrupt: true },
    { ...NO_DECISION, interrupt: true },
  ],
])('%s', async (_, decision, reply) => {
  const canUseTool: CanUseTool = async () => decision as PermissionResult;
  expect(await askPermission(canUseTool, body, served)).toEqual(reply);
});

test('what the callback throws is the failure, and without a callback nothing is allowed', async () => {
  const explode: CanUseTool = async () => {
    throw new Error('host exploded');
  };
  await expect(askPermission(explode, body, served)).rejects.toThrow('host exploded');
  await expect(askPermission(undefined, body, served)).rejects.toThrow(
    'canUseTool callback is not provided.',
  );
});

test('the callback gets the name, the input and everything the agent told', async () => {
  const seen: unknown[] = [];
  const canUseTool: CanUseTool = async (...args) => {
    seen.push(args);
    return { behavior: 'allow' };
  };
  const suggestions = [
    { type: 'addRules', rules: [{ toolName: 't' }], behavior: 'allow', destination: 'session' },
  ];
  await askPermission(
    canUseTool,
    {
      ...body,
      permission_suggestions: suggestions,
      blocked_path: '/etc',
      mcp_server: { name: 'calc', source: 'sdk' },
      decision_reason: 'rule',
      title: 'T',
      display_name: 'Add',
      description: 'Adds',
      default_to_no: true,
      suppress_always_allow_rule: true,
      agent_id: 'agent',
      matched_ask_rule: { source: 's', toolName: 't' },
      tool_change: { server: 'calc', tool: 'add' },
      never_heard_of: 1,
    },
    served,
  );
  await askPermission(canUseTool, { tool_name: 'Bash', tool_use_id: 'toolu_2' }, served);
  expect(seen).toEqual([
    [
      'mcp__calc__add',
      { a: 1 },
      {
        signal,
        suggestions,
        blockedPath: '/etc',
        mcpServer: { name: 'calc', source: 'sdk' },
        decisionReason: 'rule',
        title: 'T',
        displayName: 'Add',
        description: 'Adds',
        defaultToNo: true,
        suppressAlwaysAllowRule: true,
        toolUseID: 'toolu_1',
        agentID: 'agent',
        matchedAskRule: { source: 's', toolName: 't' },
        toolChange: { server: 'calc', tool: 'add' },
        requestId: 'ask-1',
      },
    ],
    ['Bash', {}, { signal, toolUseID: 'toolu_2', requestId: 'ask-1' }],
  ]);
});
