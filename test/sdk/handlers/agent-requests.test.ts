import { describe, expect, test } from 'vitest';
import { NO_REPLY } from '../../../src/control/channel.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import type { PermissionResult } from '../../../src/protocol/permission.ts';
import {
  askDialog,
  askElicitation,
  askPermission,
  type HandlerContext,
  replaceReply,
  serveAgent,
} from '../../../src/sdk/handlers/agent-requests.ts';
import { Bridge } from '../../../src/sdk/handlers/bridge.ts';
import { registerHooks } from '../../../src/sdk/handlers/hooks.ts';
import { splitServers } from '../../../src/sdk/options/mcp-servers.ts';
import type { CanUseTool, Options } from '../../../src/sdk/options/options.ts';
import { createSdkMcpServer } from '../../../src/tool-server/sdk-server.ts';
import { answerOf } from '../support/served.ts';

describe('agent requests', () => {
  const served = { id: 'ask-1', signal: new AbortController().signal, reply() {} };
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

  function servants(options: Options = {}): HandlerContext {
    const { sdk } = splitServers({ calc: createSdkMcpServer({ name: 'calc' }) });
    const bridge = new Bridge(sdk, {
      assigns: {},
      send() {},
    });
    return { bridge, hooks: registerHooks(options.hooks), options };
  }

  test.each<[string, object, Options, object]>([
    [
      'mcp_message',
      { server_name: 'calc', message: ping },
      {},
      { mcp_response: { result: {}, jsonrpc: '2.0', id: 1 } },
    ],
    [
      'sdk_mcp_request',
      { serverName: 'calc', message: ping },
      {},
      { mcp_response: { result: {}, jsonrpc: '2.0', id: 1 } },
    ],
    [
      'can_use_tool',
      { tool_use_id: 't' },
      { canUseTool: async () => ({ behavior: 'allow' }) },
      { behavior: 'allow', toolUseID: 't' },
    ],
    [
      'hook_callback',
      { callback_id: 'hook_0' },
      { hooks: { Stop: [{ hooks: [async () => ({ reason: 'r' })] }] } },
      { reason: 'r' },
    ],
    ['elicitation', {}, {}, { action: 'decline' }],
    ['request_user_dialog', {}, {}, { behavior: 'cancelled' }],
  ])('%s is served (R43, R46, C4)', async (subtype, body, options, reply) => {
    const answer = answerOf((it) => serveAgent(servants(options), subtype, body as Frame, it));
    expect(await answer).toEqual(reply);
  });

  test.each(['frobnicate', 'initialize', 'toString', '__proto__'])(
    '%s is rejected by name (R43, C34)',
    (subtype) => {
      expect(() => serveAgent(servants(), subtype, {}, served)).toThrow(
        expect.objectContaining({
          code: 'control-failed',
          errorCode: 'unsupported_request',
          message: `Unsupported control request subtype: ${subtype}`,
        }),
      );
    },
  );

  test.each(['mcp_message', 'sdk_mcp_request'])(
    'a result of %s that is not serializable becomes an error result',
    (subtype) => {
      const message = { jsonrpc: '2.0', id: 7, method: 'tools/call' };
      expect(replaceReply(servants(), subtype, { message }, new Error('a cycle'))).toEqual({
        mcp_response: {
          result: {
            content: [{ type: 'text', text: "The tool's result cannot be serialized as JSON: a cycle" }],
            isError: true,
          },
          jsonrpc: '2.0',
          id: 7,
        },
      });
    },
  );

  test('other responses that are not serializable have no substitute', () => {
    expect(replaceReply(servants(), 'hook_callback', {}, new Error('a cycle'))).toBeUndefined();
    expect(replaceReply(servants(), 'mcp_message', { message: {} }, new Error('a cycle'))).toBeUndefined();
  });
});

describe('permission', () => {
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
    ['deny without a message', { behavior: 'deny' }, { behavior: 'deny', toolUseID: 'toolu_1' }],
    [
      'deny without a message still stops',
      { behavior: 'deny', interrupt: true },
      { behavior: 'deny', interrupt: true, toolUseID: 'toolu_1' },
    ],
  ])('%s', async (_, decision, reply) => {
    const canUseTool: CanUseTool = async () => decision as PermissionResult;
    expect(await askPermission(canUseTool, body, served)).toEqual(reply);
  });

  test('an error of the callback is the failure, and without a callback every call is denied', async () => {
    const explode: CanUseTool = async () => {
      throw new Error('host exploded');
    };
    await expect(askPermission(explode, body, served)).rejects.toThrow('host exploded');
    await expect(askPermission(undefined, body, served)).rejects.toThrow(
      'canUseTool callback is not provided.',
    );
  });

  test('the callback gets the name, the input and all members of the request', async () => {
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
        matched_ask_rule: { source: 's', tool_name: 't', rule_content: 'x:*' },
        decision_reason_type: 'rule',
        decision_reason_code: 'code',
        requires_user_interaction: true,
        plugin: 'p',
        server_prompt: 'sp',
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
          matchedAskRule: { source: 's', toolName: 't', ruleContent: 'x:*' },
          decisionReasonType: 'rule',
          decisionReasonCode: 'code',
          requiresUserInteraction: true,
          plugin: 'p',
          serverPrompt: 'sp',
          toolChange: { server: 'calc', tool: 'add' },
          requestId: 'ask-1',
        },
      ],
      ['Bash', {}, { signal, toolUseID: 'toolu_2', requestId: 'ask-1' }],
    ]);
  });
});

describe('elicitation and dialogs', () => {
  const signal = new AbortController().signal;
  const served = { id: 'q-1', signal, reply() {} };
  const CANCELLED = { behavior: 'cancelled' };
  const DECLINED = { action: 'decline' };

  test.each<[string, unknown, unknown]>([
    [
      'accepted',
      { action: 'accept', content: { name: 'Ada' } },
      { action: 'accept', content: { name: 'Ada' } },
    ],
    ['cancelled', { action: 'cancel' }, { action: 'cancel' }],
    ['null: answered elsewhere', null, NO_REPLY],
    ['nothing', undefined, DECLINED],
    ['nonsense', { hello: 1 }, DECLINED],
    ['a text', 'yes', DECLINED],
  ])('elicitation: %s', async (_, answer, reply) => {
    expect(await askElicitation(async () => answer as never, { message: '?' }, served)).toEqual(reply);
  });

  test('an elicitation without a callback is declined', async () => {
    expect(await askElicitation(undefined, { message: '?' }, served)).toEqual(DECLINED);
  });

  test('an elicitation has camel-case members, without absent ones', async () => {
    const seen: unknown[] = [];
    const note = async (...args: unknown[]) => {
      seen.push(args);
      return null;
    };
    await askElicitation(
      note,
      {
        mcp_server_name: 'st',
        message: 'Name?',
        mode: 'url',
        url: 'https://example.invalid/',
        elicitation_id: 'e',
        requested_schema: { type: 'object' },
        title: 'T',
        display_name: 'D',
        description: 'd',
        property_order: ['name'],
      },
      served,
    );
    await askElicitation(note, { mcp_server_name: 'st', message: 'Name?' }, served);
    expect(seen).toEqual([
      [
        {
          serverName: 'st',
          message: 'Name?',
          mode: 'url',
          url: 'https://example.invalid/',
          elicitationId: 'e',
          requestedSchema: { type: 'object' },
          title: 'T',
          displayName: 'D',
          description: 'd',
        },
        { signal, requestId: 'q-1' },
      ],
      [
        { serverName: 'st', message: 'Name?' },
        { signal, requestId: 'q-1' },
      ],
    ]);
  });

  test.each<[string, unknown, unknown]>([
    ['completed', { behavior: 'completed', result: 1 }, { behavior: 'completed', result: 1 }],
    ['null: answered elsewhere', null, NO_REPLY],
    ['nothing', undefined, CANCELLED],
    ['nonsense', ['x'], CANCELLED],
  ])('dialog: %s', async (_, answer, reply) => {
    expect(await askDialog(async () => answer as never, { dialog_kind: 'k', payload: {} }, served)).toEqual(
      reply,
    );
  });

  test('a dialog without a callback is cancelled; otherwise the callback gets all members', async () => {
    expect(await askDialog(undefined, { dialog_kind: 'k' }, served)).toEqual(CANCELLED);
    const seen: unknown[] = [];
    await askDialog(
      async (...args) => {
        seen.push(args);
        return null;
      },
      { dialog_kind: 'k', payload: { a: 1 }, tool_use_id: 't' },
      served,
    );
    expect(seen).toEqual([
      [
        { dialogKind: 'k', payload: { a: 1 }, toolUseID: 't' },
        { signal, requestId: 'q-1' },
      ],
    ]);
  });

  test.each([askElicitation, askDialog])('%o: an error of the callback is the failure', async (ask) => {
    const explode = async () => {
      throw new Error('no screen');
    };
    await expect(ask(explode, {}, served)).rejects.toThrow('no screen');
  });
});
