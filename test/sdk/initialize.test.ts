import { expect, test } from 'vitest';
import type { Frame } from '../../src/protocol/control-frame.ts';
import { buildInitialize } from '../../src/sdk/initialize.ts';
import type { Manifest } from '../../src/sdk/manifest.ts';
import { splitServers } from '../../src/sdk/mcp-servers.ts';
import type { Options } from '../../src/sdk/options.ts';
import { attach, createSdkMcpServer } from '../../src/tool-server/sdk-server.ts';

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

test('in-process servers by their keys, in order, whatever their own names are (R61, R127, C24)', () => {
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

test('without in-process servers nothing is said of them', () => {
  const servers = splitServers({ st: { command: 'x' } });
  expect(buildInitialize({}, { Stop: [] }, servers, NONE)).toEqual({ ...PLAIN, hooks: { Stop: [] } });
});

test('the members stand in one order, whatever the order of the options', () => {
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
