import { describe, expect, test, vi } from 'vitest';
import { ProcessExitError } from '../../../src/control/process-link.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import { createAgentClient } from '../../../src/sdk/agent-client.ts';
import { guarded } from '../../../src/sdk/conversation/conversation.ts';
import type { Options, ToolUse } from '../../../src/sdk/options/options.ts';
import { createQuery } from '../../../src/sdk/query.ts';
import { type AgentScript, scriptAgent } from '../../../src/sdk/testing/agent-script.ts';
import type { ToolContext } from '../../../src/tool-server/context.ts';
import {
  attach,
  createSdkMcpServer,
  type SdkServer,
  toolServer,
} from '../../../src/tool-server/sdk-server.ts';
import { tool } from '../../../src/tool-server/tool.ts';
import { collect } from '../../support/collect.ts';
import { type Gate, gate } from '../../support/gate.ts';
import { fakeDeps, playQuery, playThrough, turn } from '../support/fake-deps.ts';

describe('conversation', () => {
  const text = (content: string) => ({ content: [{ type: 'text', text: content }] });

  function serverOf(handler: (args: Record<string, unknown>, ctx: ToolContext) => unknown): SdkServer {
    return createSdkMcpServer({ name: 'own name', tools: [tool('t', 'T', { type: 'object' }, handler)] });
  }
  const calls = (id: number, args: object = {}): Frame => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 't', arguments: args },
  });
  const asks = (id: string, request: Frame): Frame => ({ type: 'control_request', request_id: id, request });
  /** Waits until all earlier answers have been sent: requests are answered in order. */
  const fence = async (agent: AgentScript) => {
    await expect(agent.ask({ subtype: 'fence' })).rejects.toThrow(
      'Unsupported control request subtype: fence',
    );
  };

  test('starts the agent with arguments, directory and environment (R28, R34)', async () => {
    const agent = scriptAgent(turn());
    const deps = fakeDeps({ INHERITED: '1', CLAUDECODE: 'x' });
    const options: Options = {
      link: agent.link,
      cwd: '/somewhere',
      model: 'm',
      mcpServers: { st: { command: 'x' } },
    };
    await collect(createQuery(deps).query({ prompt: 'x', options }));
    await agent.played;
    expect(agent.script.launch).toMatchObject({
      cwd: '/somewhere',
      env: { INHERITED: '1', CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' },
    });
    expect(agent.script.launch?.argv.slice(5)).toEqual([
      '--model=m',
      '--mcp-config',
      '{"mcpServers":{"st":{"command":"x"}}}',
    ]);
  });

  test('in-process servers are on the command line only on request (C28)', async () => {
    const launched = async (options: Options) =>
      (await playThrough(turn(), options)).script.launch?.argv.slice(5);
    const mcpServers = { calc: createSdkMcpServer({ name: 'own' }) };
    expect(await launched({ mcpServers })).toEqual([]);
    expect(await launched({ mcpServers, sdkServersOnArgv: true })).toEqual([
      '--mcp-config',
      '{"mcpServers":{"calc":{"type":"sdk","name":"calc","version":"1.0.0"}}}',
    ]);
  });

  test('manifests are sent with initialize, unless the environment disables them (C29)', async () => {
    const mcpServers = { calc: serverOf(() => 1) };
    const { script } = await playThrough(turn(), { mcpServers });
    const initialize = script.agent.sent[0]?.request as Frame;
    expect(Object.keys(initialize.sdkMcpServerManifests as object)).toEqual(['calc']);
    const agent = scriptAgent(turn());
    const deps = fakeDeps({ CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS: '1' });
    await collect(createQuery(deps).query({ prompt: 'x', options: { link: agent.link, mcpServers } }));
    expect(agent.script.agent.sent[0]?.request).toEqual({
      subtype: 'initialize',
      sdkMcpServers: ['calc'],
      systemPrompt: [''],
    });
  });

  test('a server built right before the query is sent complete, without a change notification', async () => {
    const mcpServers = { calc: toolServer('calc').tool('t', 'T', { type: 'object' }, () => 1) };
    const { script } = await playThrough(turn(), { mcpServers });
    expect(script.agent.sent.map((frame) => frame.type)).toEqual(['control_request', 'user']);
  });

  test('tools are served before initialize is answered (R45, C30)', async () => {
    const calc = serverOf(({ a }) => `got ${a}`);
    await playThrough(
      async (agent) => {
        const { request_id } = await agent.agent.take({ request: { subtype: 'initialize' } });
        expect(await agent.callTool('calc', 't', { a: 1 })).toEqual(text('got 1'));
        agent.agent.emit({
          type: 'control_response',
          response: { subtype: 'success', request_id, response: {} },
        });
        await agent.prompt();
        agent.result('done');
      },
      { mcpServers: { calc } },
    );
  });

  test('the older names of a tool call are accepted too (C4, R44, R46)', async () => {
    const calc = serverOf(() => 'old');
    await playThrough(
      turn(async (agent) => {
        const old = { subtype: 'sdk_mcp_request', serverName: 'calc', message: calls(1) };
        expect(await agent.ask(old)).toEqual({
          mcp_response: { result: text('old'), jsonrpc: '2.0', id: 1 },
        });
      }),
      { mcpServers: { calc } },
    );
  });

  test('calls run concurrently (R109, C20)', async () => {
    const [first, second] = [gate(), gate()];
    const calc = serverOf(async ({ n }) => {
      if (n === 1) {
        second.open();
        await first.pass();
      } else {
        first.open();
        await second.pass();
      }
      return `call ${n}`;
    });
    await playThrough(
      turn(async ({ agent }) => {
        for (const n of [1, 2]) {
          agent.emit(
            asks(`ask-${n}`, { subtype: 'mcp_message', server_name: 'calc', message: calls(n, { n }) }),
          );
        }
        const answers = [await agent.take(), await agent.take()].map((frame) => frame.response as Frame);
        expect(answers.map((it) => it.request_id).sort()).toEqual(['ask-1', 'ask-2']);
      }),
      { mcpServers: { calc } },
    );
  });

  test('a handler sees the state of its query or its attachment; one server serves many queries at once (R5, R103)', async () => {
    const shared = serverOf((_, { assigns, server }) => `${server} ${JSON.stringify(assigns)}`);
    const [here, there] = [gate(), gate()];
    const play = (expected: Record<string, string>, mine: Gate<void>, other: Gate<void>) =>
      turn(async (agent) => {
        other.open();
        await mine.pass();
        for (const [server, said] of Object.entries(expected)) {
          expect(await agent.callTool(server, 't')).toEqual(text(said));
        }
      });
    await Promise.all([
      playThrough(play({ a: 'a {"user":"Ada"}', own: 'own {"user":"Own"}' }, here, there), {
        mcpServers: { a: shared, own: attach(shared, { assigns: { user: 'Own' } }) },
        assigns: { user: 'Ada' },
      }),
      playThrough(play({ b: 'b {"user":"Bob"}' }, there, here), {
        mcpServers: { b: shared },
        assigns: { user: 'Bob' },
      }),
    ]);
    expect(shared.instance.isConnected()).toBe(false);
  });

  test('notifications of a server reach the agent: progress and list changes (R79)', async () => {
    const calc = serverOf((_, ctx) => {
      ctx.progress(1, { total: 2 });
      return 'done';
    });
    await playThrough(
      turn(async ({ agent }) => {
        const message = { ...calls(1), params: { name: 't', arguments: {}, _meta: { progressToken: 'p' } } };
        agent.emit(asks('m-1', { subtype: 'mcp_message', server_name: 'calc', message }));
        expect((await agent.take({ request: { subtype: 'mcp_message' } })).request).toEqual({
          subtype: 'mcp_message',
          server_name: 'calc',
          message: {
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken: 'p', progress: 1, total: 2 },
          },
        });
        await agent.take({ type: 'control_response' });
        calc.add(tool('more', 'More', { type: 'object' }, () => 1));
        expect((await agent.take({ request: { subtype: 'mcp_message' } })).request).toEqual({
          subtype: 'mcp_message',
          server_name: 'calc',
          message: { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
        });
      }),
      { mcpServers: { calc } },
    );
  });

  test('a result that is not serializable becomes an error result; the conversation continues (R90)', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const calc = serverOf(({ bad }) => (bad ? { content: [], structuredContent: cyclic } : 'fine'));
    await playThrough(
      turn(async (agent) => {
        const failed = await agent.callTool('calc', 't', { bad: true });
        expect(failed).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining('cannot be sent') }],
        });
        expect(await agent.callTool('calc', 't')).toEqual(text('fine'));
      }),
      { mcpServers: { calc } },
    );
  });

  test('a call cancelled by the agent is aborted and answered once (C31)', async () => {
    const started = gate();
    const aborted = Promise.withResolvers<unknown>();
    const calc = serverOf(async (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason.name));
      await started.pass();
      return 'late';
    });
    await playThrough(
      turn(async (script) => {
        const { agent } = script;
        agent.emit(asks('m-1', { subtype: 'mcp_message', server_name: 'calc', message: calls(2) }));
        await started.reached;
        const cancel = {
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: 2, reason: 'enough' },
        };
        agent.emit(asks('m-2', { subtype: 'mcp_message', server_name: 'calc', message: cancel }));
        const answers = [await agent.take(), await agent.take()].map((frame) => frame.response as Frame);
        expect(answers.find((it) => it.request_id === 'm-1')).toEqual({
          subtype: 'success',
          request_id: 'm-1',
          response: {
            mcp_response: {
              jsonrpc: '2.0',
              id: 2,
              error: { code: -32800, message: 'Request cancelled: enough' },
            },
          },
        });
        expect(await aborted.promise).toBe('AbortError');
        started.open();
        await fence(script);
      }),
      { mcpServers: { calc } },
    );
  });

  test.each<[string, Options, Frame, Frame]>([
    [
      'canUseTool allows',
      { canUseTool: async () => ({ behavior: 'allow' }) },
      { subtype: 'can_use_tool', tool_name: 'T', input: {}, tool_use_id: 'u' },
      { behavior: 'allow', toolUseID: 'u' },
    ],
    [
      'canUseTool changes the input',
      { canUseTool: async (_, input) => ({ behavior: 'allow', updatedInput: { ...input, b: 2 } }) },
      { subtype: 'can_use_tool', tool_name: 'T', input: { a: 1 }, tool_use_id: 'u' },
      { behavior: 'allow', updatedInput: { a: 1, b: 2 }, toolUseID: 'u' },
    ],
    [
      'canUseTool denies',
      { canUseTool: async () => ({ behavior: 'deny', message: 'no' }) },
      { subtype: 'can_use_tool', tool_name: 'T', input: {}, tool_use_id: 'u' },
      { behavior: 'deny', message: 'no', toolUseID: 'u' },
    ],
    [
      'a hook',
      { hooks: { Stop: [{ hooks: [async () => ({ async: true, asyncTimeout: 5 })] }] } },
      { subtype: 'hook_callback', callback_id: 'hook_0', input: {} },
      { async: true, asyncTimeout: 5 },
    ],
    [
      'a hook with every member',
      {
        hooks: {
          PreToolUse: [
            {
              hooks: [
                async () => ({
                  continue: false,
                  suppressOutput: true,
                  stopReason: 's',
                  decision: 'block',
                  systemMessage: 'm',
                  reason: 'r',
                  hookSpecificOutput: {
                    hookEventName: 'PreToolUse',
                    permissionDecision: 'defer',
                    updatedInput: {},
                  },
                }),
              ],
            },
          ],
        },
      },
      { subtype: 'hook_callback', callback_id: 'hook_0', input: {} },
      {
        continue: false,
        suppressOutput: true,
        stopReason: 's',
        decision: 'block',
        systemMessage: 'm',
        reason: 'r',
        hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer', updatedInput: {} },
      },
    ],
    [
      'onElicitation',
      { onElicitation: async ({ message }) => ({ action: 'accept', content: { message } }) },
      { subtype: 'elicitation', mcp_server_name: 's', message: '?' },
      { action: 'accept', content: { message: '?' } },
    ],
    [
      'no onElicitation',
      {},
      { subtype: 'elicitation', mcp_server_name: 's', message: '?' },
      { action: 'decline' },
    ],
    [
      'onUserDialog',
      { onUserDialog: async () => ({ behavior: 'completed', result: 1 }) },
      { subtype: 'request_user_dialog', dialog_kind: 'k', payload: {} },
      { behavior: 'completed', result: 1 },
    ],
    [
      'no onUserDialog',
      {},
      { subtype: 'request_user_dialog', dialog_kind: 'k', payload: {} },
      { behavior: 'cancelled' },
    ],
  ])('%s', async (_, options, request, reply) => {
    await playThrough(
      turn(async (agent) => expect(await agent.ask(request as Frame & { subtype: string })).toEqual(reply)),
      options,
    );
  });

  test.each<[string, Options, Frame, string]>([
    [
      'canUseTool that throws',
      { canUseTool: () => Promise.reject(new Error('exploded')) },
      { subtype: 'can_use_tool' },
      'exploded',
    ],
    [
      'canUseTool that throws at once',
      {
        canUseTool: () => {
          throw new Error('exploded');
        },
      },
      { subtype: 'can_use_tool' },
      'exploded',
    ],
    ['no canUseTool', {}, { subtype: 'can_use_tool' }, 'canUseTool callback is not provided.'],
    [
      'a hook that throws a text',
      { hooks: { Stop: [{ hooks: [() => Promise.reject('just text')] }] } },
      { subtype: 'hook_callback', callback_id: 'hook_0' },
      'just text',
    ],
    [
      'an unknown hook',
      {},
      { subtype: 'hook_callback', callback_id: 'hook_0' },
      'No hook callback found for ID: hook_0',
    ],
    [
      'onElicitation that throws',
      { onElicitation: () => Promise.reject(new Error('no screen')) },
      { subtype: 'elicitation' },
      'no screen',
    ],
    [
      'an unknown request (R43, C34)',
      {},
      { subtype: 'frobnicate' },
      'Unsupported control request subtype: frobnicate',
    ],
  ])(
    '%s is answered with a failure, and the conversation continues',
    async (_, options, request, message) => {
      await playThrough(
        turn(async (agent) => {
          await expect(agent.ask(request as Frame & { subtype: string })).rejects.toThrow(message);
          await fence(agent);
        }),
        options,
      );
    },
  );

  test.each<[string, (waits: (signal: AbortSignal) => Promise<never>) => Options, Frame]>([
    [
      'a permission',
      (waits) => ({ canUseTool: (_, __, { signal }) => waits(signal) }),
      { subtype: 'can_use_tool', tool_name: 'T', tool_use_id: 'u' },
    ],
    [
      'a hook',
      (waits) => ({ hooks: { Stop: [{ hooks: [(_, __, { signal }) => waits(signal)] }] } }),
      { subtype: 'hook_callback', callback_id: 'hook_0' },
    ],
    [
      'a question',
      (waits) => ({ onElicitation: (_, { signal }) => waits(signal) }),
      { subtype: 'elicitation' },
    ],
  ])('%s cancelled by the agent is aborted and gets no response (C31)', async (_, options, request) => {
    const started = Promise.withResolvers<void>();
    let isAborted = false;
    const waits = (signal: AbortSignal): Promise<never> => {
      started.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true;
          reject(signal.reason);
        });
      });
    };
    const { script } = await playThrough(
      turn(async (agent) => {
        agent.agent.emit(asks('ask-1', request));
        await started.promise;
        agent.agent.emit({ type: 'control_cancel_request', request_id: 'ask-1' });
        agent.agent.emit({ type: 'control_cancel_request', request_id: 'never asked' });
        await fence(agent);
      }),
      options(waits),
    );
    expect(isAborted).toBe(true);
    expect(JSON.stringify(script.agent.sent)).not.toContain('ask-1');
  });

  test('null sends no response', async () => {
    const { script } = await playThrough(
      turn(async (agent) => {
        agent.agent.emit(asks('ask-1', { subtype: 'can_use_tool', tool_name: 'T' }));
        await fence(agent);
      }),
      { canUseTool: async () => null },
    );
    expect(JSON.stringify(script.agent.sent)).not.toContain('ask-1');
  });

  test('setMcpServers: a new server is available immediately, a removed one until the agent has agreed', async () => {
    const [early, late] = [serverOf(() => 'early'), serverOf(() => 'late')];
    const replaced = gate();
    const { query, played } = playQuery(
      turn(async (agent) => {
        const { request_id, request } = await agent.agent.take({ request: { subtype: 'mcp_set_servers' } });
        expect((request as Frame).servers).toEqual({ late: { type: 'sdk', name: 'late' } });
        expect(await agent.callTool('late', 't')).toEqual(text('late'));
        expect(await agent.callTool('early', 't')).toEqual(text('early'));
        agent.agent.emit({
          type: 'control_response',
          response: { subtype: 'success', request_id, response: {} },
        });
        await replaced.pass();
        expect(await agent.callTool('late', 't')).toEqual(text('late'));
        await expect(agent.callTool('early', 't')).rejects.toThrow("Server 'early' not found");
      }),
      { mcpServers: { early } },
    );
    await query.setMcpServers({ late });
    expect([early.instance.isConnected(), late.instance.isConnected()]).toEqual([false, true]);
    replaced.open();
    await collect(query);
    await played;
  });

  test('a rejected setMcpServers changes nothing', async () => {
    const [early, late] = [serverOf(() => 'early'), serverOf(() => 'late')];
    const refused = gate();
    const { query, played } = playQuery(
      turn(async (agent) => {
        await agent.answer('mcp_set_servers', { error: 'not now' });
        expect(await agent.callTool('early', 't')).toEqual(text('early'));
        await refused.pass();
        await expect(agent.callTool('late', 't')).rejects.toThrow("Server 'late' not found");
      }),
      { mcpServers: { early } },
    );
    await expect(query.setMcpServers({ late })).rejects.toThrow('not now');
    refused.open();
    await collect(query);
    await played;
    expect([early.instance.isConnected(), late.instance.isConnected()]).toEqual([false, false]);
  });

  test('reinitialize() sends the request again without manifests and serves pending requests', async () => {
    const asked: unknown[] = [];
    const { query, script, played } = playQuery(
      turn(async ({ agent }) => {
        const { request_id } = await agent.take({ request: { subtype: 'initialize' } });
        const pending = asks('ask-7', { subtype: 'can_use_tool', tool_name: 'T', tool_use_id: 'u' });
        agent.emit({
          type: 'control_response',
          response: {
            subtype: 'success',
            request_id,
            response: { again: 1 },
            pending_permission_requests: [pending],
          },
        });
        expect((await agent.take({ type: 'control_response' })).response).toEqual({
          subtype: 'success',
          request_id: 'ask-7',
          response: { behavior: 'allow', toolUseID: 'u' },
        });
      }),
      {
        mcpServers: { calc: serverOf(() => 1) },
        hooks: { Stop: [{ hooks: [async () => ({})] }] },
        canUseTool: async (name) => {
          asked.push(name);
          return { behavior: 'allow' };
        },
      },
    );
    expect(await query.reinitialize()).toEqual({ again: 1 });
    await collect(query);
    await played;
    const [first, second] = script.agent.sent
      .map((frame) => frame.request as Frame | undefined)
      .filter((request) => request?.subtype === 'initialize');
    expect(first).toMatchObject({ sdkMcpServerManifests: {} });
    const { sdkMcpServerManifests: _, ...rest } = first as Frame;
    expect(second).toEqual(rest);
    expect(asked).toEqual(['T']);
  });

  test('requests that were pending when the agent was resumed are served after initialize', async () => {
    await playThrough(
      async ({ agent }) => {
        const { request_id } = await agent.take({ request: { subtype: 'initialize' } });
        const pending = asks('old', { subtype: 'elicitation', message: '?' });
        agent.emit({
          type: 'control_response',
          response: { subtype: 'success', request_id, response: {}, pending_user_dialog_requests: [pending] },
        });
        const frames = [await agent.take(), await agent.take()];
        expect(frames.map((frame) => frame.type).sort()).toEqual(['control_response', 'user']);
        agent.emit({ type: 'result', subtype: 'success' });
      },
      {},
      'hello',
    );
  });

  test.each([
    [true, false],
    [false, true],
    [undefined, true],
  ])('onFailure "block" requires an agent that supports it (reported as %s)', async (told, isRefused) => {
    const play = async (agent: AgentScript) => {
      await agent.start(told === undefined ? {} : { hook_on_failure_supported: told });
      if (isRefused) return;
      await agent.prompt();
      agent.result('done');
    };
    const hooks: Options['hooks'] = { PreToolUse: [{ hooks: [async () => ({})], onFailure: 'block' }] };
    const { query, played } = playQuery(play, { hooks });
    if (isRefused)
      await expect(collect(query)).rejects.toMatchObject({
        code: 'control-failed',
        message: expect.stringContaining('onFailure'),
      });
    else await collect(query);
    await played;
  });

  test('a tool_use message alone runs no handler: only the agent’s request does (R1, R2)', async () => {
    let calls = 0;
    const calc = serverOf(() => ++calls);
    await playThrough(
      turn(async (agent) => {
        const use = { type: 'tool_use', id: 'u', name: 'mcp__calc__t', input: {} };
        agent.agent.emit({ type: 'assistant', message: { content: [use] }, parent_tool_use_id: null });
        await fence(agent);
        expect(calls).toBe(0);
        expect(await agent.callTool('calc', 't', {})).toEqual(text('1'));
      }),
      { mcpServers: { calc } },
    );
  });

  test('onToolUse gets every tool use with its result', async () => {
    const uses: ToolUse[] = [];
    await playThrough(
      turn(async ({ agent }) => {
        agent.emit({
          type: 'assistant',
          message: { content: [{ type: 'tool_use', id: 'u', name: 'Bash', input: { command: 'ls' } }] },
          parent_tool_use_id: null,
        });
        agent.emit({
          type: 'user',
          message: {
            content: [{ type: 'tool_result', tool_use_id: 'u', content: 'files', is_error: false }],
          },
          parent_tool_use_id: null,
        });
      }),
      { onToolUse: (use) => void uses.push(use) },
    );
    expect(uses).toEqual([
      {
        toolUseId: 'u',
        name: 'Bash',
        input: { command: 'ls' },
        result: 'files',
        isError: false,
        parentToolUseId: null,
      },
    ]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('mine');
      },
    ],
  ])('an onToolUse that %s produces a warning and affects nothing else', async (_, onToolUse) => {
    const { messages, world: deps } = await playThrough(
      turn(async ({ agent }) => {
        agent.emit({
          type: 'assistant',
          message: { content: [{ type: 'tool_use', id: 'u', name: 'T', input: {} }] },
        });
        agent.emit({
          type: 'user',
          message: { content: [{ type: 'tool_result', tool_use_id: 'u', content: '' }] },
        });
      }),
      { onToolUse },
    );
    expect(messages.map((it) => it.type)).toEqual(['assistant', 'user', 'result']);
    expect(deps.warnings).toEqual([
      { code: 'TOOLPLANE_LISTENER_THREW', message: 'options.onToolUse threw: mine' },
    ]);
  });

  test('an agent that exits rejects everything pending with its stderr', async () => {
    const started = gate();
    const aborted = Promise.withResolvers<void>();
    const calc = serverOf(async (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      await started.pass();
    });
    const { query, played } = playQuery(
      turn(async (agent) => {
        agent.agent.emit(asks('m-1', { subtype: 'mcp_message', server_name: 'calc', message: calls(1) }));
        await started.reached;
        await agent.agent.take({ request: { subtype: 'set_model' } });
        agent.agent.leave(new ProcessExitError(null, 'SIGKILL', ['out of memory']));
      }),
      { mcpServers: { calc } },
    );
    const death = {
      code: 'process-exited',
      message: 'Claude Code process terminated by signal SIGKILL. stderr: out of memory',
    };
    const setting = query.setModel('m');
    await Promise.all([
      expect(setting).rejects.toMatchObject(death),
      expect(collect(query)).rejects.toMatchObject(death),
      aborted.promise,
    ]);
    await expect(query.setModel('m')).rejects.toMatchObject({ code: 'closed' });
    expect(calc.instance.isConnected()).toBe(false);
    await played;
  });

  test('an agent that exits before initialize rejects the loop and initialize with the same error', async () => {
    const { query } = playQuery(async (agent) => {
      await agent.agent.take();
      agent.agent.leave(new ProcessExitError(3, null, []));
    });
    const death = { code: 'process-exited', message: 'Claude Code process exited with code 3' };
    await expect(query.initializationResult()).rejects.toMatchObject(death);
    await expect(collect(query)).rejects.toMatchObject(death);
  });

  test('an exit after an error result reports that result, until a new turn', async () => {
    const failing = playQuery(
      turn(async (agent) => {
        agent.result('', {
          subtype: 'error_max_turns',
          is_error: true,
          errors: ['Reached maximum number of turns (1)'],
        });
        agent.agent.leave(new ProcessExitError(1, null, []));
      }),
    );
    await expect(collect(failing.query)).rejects.toMatchObject({
      code: 'process-exited',
      message: 'Claude Code returned an error result: Reached maximum number of turns (1)',
    });
    const recovered = playQuery(
      async (agent) => {
        await agent.start();
        await agent.prompt();
        agent.result('', { is_error: true, errors: ['first'] });
        agent.result('fine');
        agent.agent.leave(new ProcessExitError(1, null, []));
      },
      {},
      (async function* () {
        yield {
          type: 'user' as const,
          message: { role: 'user' as const, content: 'x' },
          parent_tool_use_id: null,
        };
        await new Promise(() => {});
      })(),
    );
    await expect(collect(recovered.query)).rejects.toThrow('Claude Code process exited with code 1');
  });

  test.each<[string, number]>([
    ['', 60_000],
    ['1000', 60_000],
    ['nonsense', 60_000],
    ['90000', 90_000],
  ])('the environment sets the time limit of initialize (%j), at least a minute', async (override, ms) => {
    vi.useFakeTimers();
    try {
      const agent = scriptAgent(async (it) => void (await it.agent.take()));
      const deps = fakeDeps({ CLAUDE_CODE_STREAM_CLOSE_TIMEOUT: override });
      const query = createQuery(deps).query({
        prompt: 'x',
        options: { link: agent.link, controlTimeoutMs: 1 },
      });
      const failed = query.next().then(
        () => 'ended',
        (error: Error) => error.message,
      );
      let isOver = false;
      void failed.then(() => {
        isOver = true;
      });
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(await failed).toBe(`The agent did not answer "initialize" within ${ms} ms`);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each<[string, Options, boolean]>([
    ['options.debug', { debug: true }, false],
    ['the surroundings', {}, true],
  ])('%s prints every frame, secrets masked (R115)', async (_, options, debug) => {
    const agent = scriptAgent(
      turn(async (it) => {
        it.agent.emit({ type: 'assistant', message: { content: [] }, api_key: 'sk-ant-0123456789' });
      }),
    );
    const deps = fakeDeps({}, { debug });
    const mcpServers = {
      web: { type: 'http', url: 'http://127.0.0.1:1/', headers: { Authorization: 'Bearer abcdef' } },
    } as const;
    const query = createQuery(deps).query({
      prompt: 'my password=hunter2',
      options: { link: agent.link, ...options },
    });
    await query.initializationResult();
    void query.setMcpServers(mcpServers).catch(() => {});
    await collect(query);
    const printed = deps.printed.join('\n');
    expect(deps.printed[0]).toMatch(
      /^> \{"request_id":"\w+","type":"control_request","request":\{"subtype":"initialize"/,
    );
    expect(deps.printed.at(-1)).toBe('< end');
    expect(printed).toContain('< {"type":"assistant"');
    expect(printed).not.toMatch(/hunter2|0123456789|abcdef/);
  });

  test('without it nothing is printed', async () => {
    const { world: deps } = await playThrough(turn());
    expect(deps.printed).toEqual([]);
  });

  test('options are validated before anything is started', async () => {
    const { query } = createQuery(fakeDeps());
    expect(() => query({ prompt: 'x', options: { maxTurns: {} as number } })).toThrow('options.maxTurns');
    expect(() => query({ prompt: 'x', options: { mcpServers: { x: {} as never } } })).toThrow(
      'mcpServers["x"]',
    );
    const { world: deps } = await playThrough(turn(), { mcpConfig: '/x.json' });
    expect(deps.warnings.map((it) => it.code)).toEqual(['TOOLPLANE_MCP_CONFIG_DEPRECATED']);
  });

  test('null options are not given, and unknown ones are ignored with a warning', async () => {
    const nulls = { model: null, mcpServers: null, hooks: null, canUseTool: null, stderr: null, env: null };
    const { world: deps, script } = await playThrough(turn(), { ...nulls, modle: 'm' } as never);
    expect(deps.warnings.map((it) => it.code)).toEqual(['TOOLPLANE_UNKNOWN_OPTION']);
    expect(script.launch?.argv.join(' ')).not.toMatch(/null|model/);
  });

  test('a failed link leaves no session behind', async () => {
    const server = serverOf(() => 1);
    const { query } = createQuery(fakeDeps());
    expect(() => query({ prompt: 'x', options: { mcpServers: { server } } })).toThrow(
      expect.objectContaining({ code: 'spawn-failed' }),
    );
    expect(server.instance.isConnected()).toBe(false);
  });

  test('a failing factory closes the sessions opened before it', () => {
    const server = serverOf(() => 1);
    const broken = () => {
      throw new Error('no server today');
    };
    const { query } = createQuery(fakeDeps());
    const { link } = scriptAgent(turn());
    const mcpServers = { server, broken: { type: 'sdk' as const, name: 'broken', instance: broken } };
    expect(() => query({ prompt: 'x', options: { link, mcpServers } })).toThrow('no server today');
    expect(server.instance.isConnected()).toBe(false);
  });

  test.each([
    ['answered initialize', async (agent: AgentScript) => agent.agent.leave(), { code: 'closed' }],
    [
      'gave a result',
      async (agent: AgentScript) => {
        await agent.start();
        await agent.prompt();
        agent.agent.leave();
      },
      { code: 'process-exited', message: 'The agent ended before it sent a result' },
    ],
  ])(
    'an agent that exits with code 0 before it %s ends a query and fails a turn',
    async (_, play, failure) => {
      const { query } = createQuery(fakeDeps());
      const { type } =
        (await collect(query({ prompt: 'x', options: { link: scriptAgent(play).link } }))).at(-1) ?? {};
      expect(type).not.toBe('result');
      const ask = async () => {
        const client = await createAgentClient(fakeDeps())({ link: scriptAgent(play).link });
        return client.ask('x');
      };
      await expect(ask()).rejects.toMatchObject(failure);
    },
  );

  test('concurrent changes of the servers are applied in order', async () => {
    const set: string[][] = [];
    const { query, played } = playQuery(
      turn(async (agent) => {
        for (let change = 0; change < 2; change++) {
          const request = await agent.answer('mcp_set_servers', { added: [], removed: [], errors: {} });
          set.push(Object.keys(request.servers as Frame));
        }
        expect(await agent.callTool('b', 't')).toEqual(text('b'));
      }),
    );
    await Promise.all([
      query.setMcpServers({ a: serverOf(() => 'a') }),
      query.setMcpServers({ b: serverOf(() => 'b') }),
    ]);
    await collect(query);
    await played;
    expect(set).toEqual([['a'], ['b']]);
  });
});

describe('guarded listeners', () => {
  test('passes arguments to the listener', () => {
    const told: unknown[] = [];
    const listener = guarded(
      'onToolUse',
      (value) => void told.push(value),
      () => told.push('warned'),
    );
    listener('one');
    listener('two');
    expect(told).toEqual(['one', 'two']);
  });

  test.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('mine');
      },
    ],
    [
      'throws a text',
      () => {
        throw 'mine';
      },
    ],
  ])('a listener that %s produces a warning only', async (_, listener) => {
    const warned = Promise.withResolvers<unknown>();
    guarded('stderr', listener, warned.resolve)('text');
    expect(await warned.promise).toEqual({
      code: 'TOOLPLANE_LISTENER_THREW',
      message: 'options.stderr threw: mine',
    });
  });
});
