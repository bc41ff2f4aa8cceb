import { describe, expect, test, vi } from 'vitest';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import type { RpcMessage, RpcResponse } from '../../../src/protocol/json-rpc.ts';
import { buildInitialize, type Manifest, makeManifest } from '../../../src/sdk/conversation/initialize.ts';
import { splitServers } from '../../../src/sdk/options/mcp-servers.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { attach, createSdkMcpServer, type SdkServerEntry } from '../../../src/tool-server/sdk-server.ts';
import type { McpSession } from '../../../src/tool-server/session.ts';
import { tool } from '../../../src/tool-server/tool.ts';
import { entryOf } from '../support/fake-deps.ts';

describe('initialize', () => {
  const NONE: ReadonlyMap<string, Manifest> = new Map();
  const PLAIN = { subtype: 'initialize', systemPrompt: [''] };

  const ROWS: readonly (readonly [name: string, options: Options, body: Frame])[] = [
    ['nothing is an empty system prompt, not the agent’s own', {}, PLAIN],
    ['an empty text too', { systemPrompt: '' }, PLAIN],
    ['a text', { systemPrompt: 'x' }, { subtype: 'initialize', systemPrompt: ['x'] }],
    ['blocks', { systemPrompt: ['x', 'y'] }, { subtype: 'initialize', systemPrompt: ['x', 'y'] }],
    ['no blocks', { systemPrompt: [] }, { subtype: 'initialize', systemPrompt: [] }],
    [
      'a custom prompt',
      { systemPrompt: { type: 'custom', prompt: 'x', snapshot: false } },
      { subtype: 'initialize', systemPrompt: ['x'], systemPromptSnapshot: false },
    ],
    ['the preset', { systemPrompt: { type: 'preset', preset: 'claude_code' } }, { subtype: 'initialize' }],
    [
      'the preset with all members',
      {
        systemPrompt: {
          type: 'preset',
          preset: 'claude_code',
          append: '',
          excludeDynamicSections: false,
          snapshot: true,
        },
      },
      {
        subtype: 'initialize',
        appendSystemPrompt: '',
        systemPromptSnapshot: true,
        excludeDynamicSections: false,
      },
    ],
    [
      'an output format',
      { outputFormat: { type: 'json_schema', schema: { type: 'object' } } },
      { ...PLAIN, jsonSchema: { type: 'object' } },
    ],
    ['skills as a list', { skills: [] }, { ...PLAIN, skills: [] }],
    ['skills as a word', { skills: 'all' }, PLAIN],
    [
      'flags as given',
      {
        promptSuggestions: false,
        agentProgressSummaries: true,
        forwardSubagentText: false,
        perTaskStopAffordance: true,
      },
      {
        ...PLAIN,
        promptSuggestions: false,
        agentProgressSummaries: true,
        forwardSubagentText: false,
        perTaskStopAffordance: true,
      },
    ],
    [
      'texts and maps',
      { title: '', planModeInstructions: 'p', toolAliases: {}, agents: {} },
      { ...PLAIN, planModeInstructions: 'p', toolAliases: {}, agents: {}, title: '' },
    ],
    [
      'agents as they are',
      { agents: { a: { description: 'd', prompt: 'p', mcpServers: ['x'] } } },
      { ...PLAIN, agents: { a: { description: 'd', prompt: 'p', mcpServers: ['x'] } } },
    ],
    [
      'dialog kinds',
      { supportedDialogKinds: [], onUserDialog: async () => null },
      { ...PLAIN, supportedDialogKinds: [] },
    ],
    ['plugins on the command line', { plugins: [{ type: 'local', path: '/p' }] }, PLAIN],
    [
      'plugins here',
      { plugins: [{ type: 'local', path: '/p' }], pluginDelivery: 'initialize' },
      { ...PLAIN, plugins: [{ type: 'local', path: '/p' }] },
    ],
    ['no plugins here', { plugins: [], pluginDelivery: 'initialize' }, PLAIN],
  ];

  test.each(ROWS)('%s', (_, options, body) => {
    expect(buildInitialize(options, undefined, splitServers(), NONE)).toEqual(body);
  });

  test('lists in-process servers by key, in order (R61, R127, C24)', () => {
    const one = createSdkMcpServer({ name: 'own name', timeout: 5 });
    const servers = splitServers({
      b: one,
      web: { type: 'http', url: 'http://127.0.0.1:1/' },
      a: {
        ...attach(createSdkMcpServer({ name: 'other' }), { assigns: { secret: 1 } }),
        tools: [{ name: 't', permission_policy: 'always_ask' as const }],
      },
    });
    const manifests = new Map([['b', { initializeResult: { serverInfo: {} } }]]);
    expect(buildInitialize({}, undefined, servers, manifests)).toEqual({
      subtype: 'initialize',
      sdkMcpServers: ['b', 'a'],
      sdkMcpServerConfigs: {
        b: { timeout: 5 },
        a: { tools: [{ name: 't', permission_policy: 'always_ask' }] },
      },
      sdkMcpServerManifests: { b: { initializeResult: { serverInfo: {} } } },
      systemPrompt: [''],
    });
  });

  test('omits the members without in-process servers', () => {
    const servers = splitServers({ st: { command: 'x' } });
    expect(buildInitialize({}, { Stop: [] }, servers, NONE)).toEqual({ ...PLAIN, hooks: { Stop: [] } });
  });

  test('the order of members does not depend on the options', () => {
    const options: Options = {
      pluginDelivery: 'initialize',
      plugins: [{ type: 'local', path: '/p' }],
      perTaskStopAffordance: true,
      supportedDialogKinds: ['k'],
      onUserDialog: async () => null,
      forwardSubagentText: true,
      agentProgressSummaries: true,
      promptSuggestions: true,
      skills: ['s'],
      title: 't',
      agents: {},
      toolAliases: {},
      planModeInstructions: 'i',
      systemPrompt: { type: 'custom', prompt: 'x', snapshot: true },
      outputFormat: { type: 'json_schema', schema: {} },
    };
    const servers = splitServers({ s: createSdkMcpServer({ name: 's', timeout: 1 }) });
    const manifests = new Map([['s', { initializeResult: {} }]]);
    expect(Object.keys(buildInitialize(options, {}, servers, manifests))).toEqual([
      'subtype',
      'hooks',
      'sdkMcpServers',
      'sdkMcpServerConfigs',
      'sdkMcpServerManifests',
      'jsonSchema',
      'systemPrompt',
      'planModeInstructions',
      'systemPromptSnapshot',
      'toolAliases',
      'agents',
      'title',
      'skills',
      'promptSuggestions',
      'agentProgressSummaries',
      'forwardSubagentText',
      'supportedDialogKinds',
      'perTaskStopAffordance',
      'plugins',
    ]);
  });
});

describe('manifest', () => {
  const FOREIGN: SdkServerEntry = {
    type: 'sdk',
    name: 'f',
    instance: { connect: async () => {}, close: async () => {} },
  };
  const INFO = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'f', version: '1' },
  };
  const LISTED = { tools: [{ name: 't', inputSchema: { type: 'object' } }] };

  /** A session that answers these methods, and keeps what it was sent. */
  function session(answers: Record<string, object | undefined>): McpSession & { received: RpcMessage[] } {
    const received: RpcMessage[] = [];
    return {
      received,
      async receive(message) {
        const { method, id } = message as { method: string; id?: string };
        received.push(message as RpcMessage);
        const result = answers[method];
        if (id === undefined) return undefined;
        return (
          result
            ? { jsonrpc: '2.0', id, result }
            : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }
        ) as RpcResponse;
      },
      close() {},
    };
  }

  const unused: McpSession = {
    receive: () => Promise.reject(new Error('our own servers need no session')),
    close() {},
  };

  test('a Toolplane server provides its manifest without requests (C29)', async () => {
    const server = createSdkMcpServer({
      name: 'calc',
      version: '1.2.3',
      instructions: 'Add.',
      tools: [tool('add', 'Adds', { type: 'object', properties: { a: { type: 'number' } } }, () => 1)],
    });
    expect(await makeManifest(entryOf(server), unused)).toEqual({
      initializeResult: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'calc', version: '1.2.3' },
        instructions: 'Add.',
      },
      toolsListResult: {
        tools: [
          {
            name: 'add',
            description: 'Adds',
            inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
            execution: { taskSupport: 'forbidden' },
          },
        ],
      },
    });
  });

  test('a foreign server gets the requests of an agent', async () => {
    const asked = session({ initialize: INFO, 'tools/list': LISTED });
    expect(await makeManifest(FOREIGN, asked)).toEqual({ initializeResult: INFO, toolsListResult: LISTED });
    expect(asked.received.map((it) => 'method' in it && it.method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
  });

  test.each<[string, Record<string, object | undefined>, object | undefined]>([
    [
      'has no tools',
      { initialize: { ...INFO, capabilities: {} } },
      { initializeResult: { ...INFO, capabilities: {} } },
    ],
    ['does not list them', { initialize: INFO }, { initializeResult: INFO }],
    [
      'lists them in pages',
      { initialize: INFO, 'tools/list': { ...LISTED, nextCursor: 'x' } },
      { initializeResult: INFO },
    ],
    ['does not initialise', {}, undefined],
  ])('a foreign server that %s', async (_, answers, manifest) => {
    expect(await makeManifest(FOREIGN, session(answers))).toEqual(manifest);
  });

  test('a foreign server that never answers is left to the agent after 250 ms', async () => {
    vi.useFakeTimers();
    try {
      const stuck: McpSession = { receive: () => new Promise(() => {}), close() {} };
      const manifest = makeManifest(FOREIGN, stuck);
      await vi.advanceTimersByTimeAsync(250);
      expect(await manifest).toBeUndefined();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
