import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { official } from '../../../interop/official.ts';
import { type Query, query, type SDKUserMessage } from '../../../src/entry/index.ts';

/** Every member of the official `Query` type; a missing or an additional one is a type error. */
const MEMBERS: Record<keyof official.Query, true> = {
  accountInfo: true,
  applyFlagSettings: true,
  backgroundTasks: true,
  close: true,
  getContextUsage: true,
  initializationResult: true,
  interrupt: true,
  mcpServerStatus: true,
  next: true,
  readFile: true,
  readMcpResource: true,
  reconnectMcpServer: true,
  reinitialize: true,
  reloadOutputStyles: true,
  reloadPlugins: true,
  reloadSkills: true,
  return: true,
  rewindFiles: true,
  seedReadState: true,
  setMaxThinkingTokens: true,
  setMcpPermissionModeOverride: true,
  setMcpServers: true,
  setModel: true,
  setPermissionMode: true,
  stopTask: true,
  streamInput: true,
  supportedAgents: true,
  supportedCommands: true,
  supportedModels: true,
  throw: true,
  toggleMcpServer: true,
  updateSettings: true,
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: true,
  [Symbol.asyncDispose]: true,
  [Symbol.asyncIterator]: true,
};

/** Methods of both packages that the official `Query` type does not declare. */
const UNDECLARED = ['mcpAuthenticate', 'mcpClearAuth', 'mcpSubmitOAuthCallbackUrl'];

const PACKAGES = { official: official.query as typeof query, toolplane: query };

test('the first prototype of a query has the same public methods in both packages', () => {
  const members = [...Reflect.ownKeys(MEMBERS), ...UNDECLARED];
  const theirs = methodsOf(start('official'));
  const ours = methodsOf(start('toolplane'));
  expect(theirs).toEqual(expect.arrayContaining(members));
  expect(new Set(ours)).toEqual(new Set(members));
});

test('spreading a query copies no method in either package, so that a wrapper keeps its own', () => {
  for (const name of ['official', 'toolplane'] as const) {
    const copy = { ...start(name) } as Record<PropertyKey, unknown>;
    expect(Reflect.ownKeys(MEMBERS).filter((member) => member in copy)).toEqual([]);
  }
});

/** The ways in which tracing libraries wrap a query. */
const WRAPPERS: Record<string, (query: Query) => Query> = {
  'copied from the prototype and bound': (q) => {
    const copy: Record<PropertyKey, unknown> = {};
    for (const name of methodsOf(q)) copy[name] = Reflect.get(q, name).bind(q);
    return copy as unknown as Query;
  },
  'a proxy': (q) => new Proxy(q, {}),
  'a proxy that binds': (q) =>
    new Proxy(q, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    }),
  'an object that inherits from it': (q) => Object.create(q),
};

const ROWS = Object.keys(WRAPPERS).flatMap((wrapper) => [
  ['official', wrapper] as const,
  ['toolplane', wrapper] as const,
]);

test.each(ROWS)(
  '%s: a wrapped query (%s) answers control requests, iterates and ends',
  async (name, wrapper) => {
    await useAll(WRAPPERS[wrapper]?.(start(name)) as Query);
  },
);

test('the methods of a query work without the object', async () => {
  const q = start('toolplane');
  const members = Reflect.ownKeys(MEMBERS).map((name) => [name, Reflect.get(q, name)]);
  await useAll(Object.fromEntries(members));
});

test('a method that is replaced on the prototype is used', async () => {
  const q = start('toolplane');
  const prototype = Object.getPrototypeOf(q) as Query;
  const { setModel } = prototype;
  const models: unknown[] = [];
  try {
    prototype.setModel = async (model) => void models.push(model);
    await q.setModel('m');
  } finally {
    prototype.setModel = setModel;
  }
  expect(models).toEqual(['m']);
});

async function useAll(q: Query): Promise<void> {
  expect(await q.supportedCommands()).toEqual([]);
  await q.interrupt();
  await q.setModel('m');
  const iterator = q[Symbol.asyncIterator]();
  expect(await iterator.next()).toMatchObject({ value: { type: 'system', subtype: 'init' } });
  expect(await q.next()).toMatchObject({ value: { type: 'result' } });
  q.close();
  expect(await q.return()).toEqual({ done: true, value: undefined });
}

function methodsOf(q: Query): PropertyKey[] {
  return Reflect.ownKeys(Object.getPrototypeOf(q)).filter((name) => name !== 'constructor');
}

function start(name: keyof typeof PACKAGES): Query {
  const started = PACKAGES[name]({
    prompt: endless(),
    options: { pathToClaudeCodeExecutable: STAND_IN, env: { PATH: process.env.PATH } },
  });
  onTestFinished(() => started.close());
  return started;
}

const STAND_IN = fileURLToPath(new URL('../../../bench/stand-in-cli.mjs', import.meta.url));

async function* endless(): AsyncGenerator<SDKUserMessage> {
  yield { type: 'user', message: { role: 'user', content: '{"steps":[]}' }, parent_tool_use_id: null };
  await new Promise(() => {});
}
