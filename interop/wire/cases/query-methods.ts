import type { Query, Sdk, UserMessage, WireCase } from '../case.ts';
import type { Scenario } from '../scenario.ts';
import { calc } from '../servers.ts';

const MESSAGE = '00000000-0000-4000-8000-0000000000bb';
type Act = (query: Query, sdk: Sdk) => Promise<unknown>;

/** One row per method of the query, called after the first result of a streamed session. */
const ROWS: Readonly<Record<string, Act>> = {
  interrupt: (query) => query.interrupt(),
  setPermissionMode: (query) => query.setPermissionMode('plan'),
  setMcpPermissionModeOverride: (query) => query.setMcpPermissionModeOverride('calc', 'auto'),
  'setMcpPermissionModeOverride null': (query) => query.setMcpPermissionModeOverride('calc', null),
  setModel: (query) => query.setModel('claude-haiku-4-5'),
  'setModel undefined': (query) => query.setModel(),
  setMaxThinkingTokens: (query) => query.setMaxThinkingTokens(1024),
  'setMaxThinkingTokens null': (query) => query.setMaxThinkingTokens(null),
  'setMaxThinkingTokens display': (query) => query.setMaxThinkingTokens(1024, 'omitted'),
  'setMaxThinkingTokens display null': (query) => query.setMaxThinkingTokens(1024, null),
  applyFlagSettings: (query) => query.applyFlagSettings({ model: 'm', effortLevel: null }),
  updateSettings: (query) => query.updateSettings('localSettings', { outputStyle: 'terse' }),
  initializationResult: (query) => query.initializationResult(),
  reinitialize: (query) => query.reinitialize(),
  supportedCommands: (query) => query.supportedCommands(),
  supportedModels: (query) => query.supportedModels(),
  supportedAgents: (query) => query.supportedAgents(),
  mcpServerStatus: (query) => query.mcpServerStatus(),
  getContextUsage: (query) => query.getContextUsage(),
  'getContextUsage summary': (query) => query.getContextUsage({ detail: 'summary' }),
  usage: (query) => query.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(),
  'usage skipBehaviors': (query) =>
    query.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET({ skipBehaviors: true }),
  readFile: (query) => query.readFile('a.txt'),
  'readFile options': (query) => query.readFile('a.txt', { maxBytes: 10, encoding: 'base64' }),
  reloadPlugins: (query) => query.reloadPlugins(),
  'reloadPlugins options': (query) =>
    query.reloadPlugins({
      holdOnCacheImpact: true,
      addPlugins: [{ type: 'local', path: '/elsewhere/plugin' }],
      refuseIfBusy: true,
    }),
  reloadSkills: (query) => query.reloadSkills(),
  reloadOutputStyles: (query) => query.reloadOutputStyles(),
  accountInfo: (query) => query.accountInfo(),
  rewindFiles: (query) => query.rewindFiles(MESSAGE),
  'rewindFiles dry run': (query) => query.rewindFiles(MESSAGE, { dryRun: true }),
  seedReadState: (query) => query.seedReadState('/elsewhere/a.txt', 12),
  reconnectMcpServer: (query) => query.reconnectMcpServer('calc'),
  toggleMcpServer: (query) => query.toggleMcpServer('calc', false),
  readMcpResource: (query) => query.readMcpResource('calc', 'ui://calc/view'),
  'setMcpServers empty': (query) => query.setMcpServers({}),
  'setMcpServers stdio': (query) => query.setMcpServers({ late: { command: 'node', args: ['late.mjs'] } }),
  'setMcpServers sdk': (query, sdk) => query.setMcpServers({ late: calc(sdk), st: { command: 'node' } }),
  'setMcpServers sdk timeout': (query, sdk) => query.setMcpServers({ late: { ...calc(sdk), timeout: 5000 } }),
  stopTask: (query) => query.stopTask('task-1'),
  backgroundTasks: (query) => query.backgroundTasks(),
  'backgroundTasks one': (query) => query.backgroundTasks('toolu_1'),
  streamInput: (query) => query.streamInput(says('again')),
  close: async (query) => query.close(),
  return: async (query) => void (await query.return()),
  'two at once': (query) => Promise.all([query.setModel('a'), query.setModel('b')]),
};

const REFUSED: Scenario['replies'] = Object.fromEntries(
  [
    'set_model',
    'mcp_reconnect',
    'read_file',
    'interrupt',
    'rewind_files',
    'mcp_status',
    'background_tasks',
  ].map((subtype) => [subtype, { error: 'refused here', error_code: 'no_way' }]),
);

/** The same methods when the CLI answers with an error. */
const REFUSED_ROWS: Readonly<Record<string, Act>> = {
  setModel: (query) => query.setModel('x'),
  reconnectMcpServer: (query) => query.reconnectMcpServer('calc'),
  readFile: (query) => query.readFile('a.txt'),
  interrupt: (query) => query.interrupt(),
  rewindFiles: (query) => query.rewindFiles(MESSAGE),
  mcpServerStatus: (query) => query.mcpServerStatus(),
  backgroundTasks: (query) => query.backgroundTasks(),
};

const EMPTY: Scenario['replies'] = Object.fromEntries(
  ['interrupt', 'mcp_status', 'mcp_set_servers', 'background_tasks', 'rewind_files', 'read_file'].map(
    (subtype) => [subtype, {}],
  ),
);

/** The same methods when the CLI answers success without a body. */
const EMPTY_ROWS: Readonly<Record<string, Act>> = {
  interrupt: (query) => query.interrupt(),
  mcpServerStatus: (query) => query.mcpServerStatus(),
  setMcpServers: (query) => query.setMcpServers({}),
  backgroundTasks: (query) => query.backgroundTasks(),
  rewindFiles: (query) => query.rewindFiles(MESSAGE, { dryRun: false }),
  readFile: (query) => query.readFile('a.txt', {}),
};

export const QUERY_METHOD_CASES: readonly WireCase[] = [
  ...rows('method', ROWS),
  ...rows('method refused', REFUSED_ROWS, { replies: REFUSED }),
  ...rows('method answered empty', EMPTY_ROWS, { replies: EMPTY }),
  {
    name: 'method: interrupt of a string prompt after its result',
    prompt: 'hello',
    act: (query) => query.interrupt(),
  },
  {
    name: 'method: initializationResult when initialize was refused',
    scenario: { replies: { initialize: { error: 'not today', error_code: 'no' } } },
    act: (query) => query.initializationResult(),
  },
  {
    name: 'method: setModel when the CLI goes away',
    scenario: { beforeReply: { set_model: [{ exit: 0 }] } },
    act: (query) => query.setModel('x'),
  },
  {
    name: 'method: setModel when the CLI goes away badly',
    scenario: { beforeReply: { set_model: [{ exit: 5 }] } },
    act: (query) => query.setModel('x'),
  },
  {
    name: 'method: setMcpServers after an sdk server',
    options: (sdk) => ({ mcpServers: { calc: calc(sdk), st: { command: 'node', args: [] } } }),
    act: (query) => query.setMcpServers({ other: { type: 'http', url: 'http://127.0.0.1:1/' } }),
  },
  {
    name: 'method: reinitialize with hooks and servers',
    options: (sdk) => ({
      mcpServers: { calc: calc(sdk) },
      hooks: { PreToolUse: [{ hooks: [async () => ({})] }] },
      title: 'T',
    }),
    act: (query) => query.reinitialize(),
  },
];

function rows(prefix: string, table: Readonly<Record<string, Act>>, scenario?: Scenario): WireCase[] {
  return Object.entries(table).map(([name, act]) => ({
    name: `${prefix}: ${name}`,
    act,
    ...(scenario ? { scenario } : {}),
  }));
}

async function* says(text: string): AsyncIterable<UserMessage> {
  yield { type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null };
}
