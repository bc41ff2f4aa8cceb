import { expect, test } from 'vitest';
import { ServerWatch } from '../../../src/cli/run/server-watch.ts';
import type { SDKMessage } from '../../../src/protocol/agent-message.ts';
import type { McpServerStatus } from '../../../src/sdk/query-methods.ts';

const init = (...mcp_servers: McpServerStatus[]) => initWith([], ...mcp_servers);
const initWith = (tools: readonly string[], ...mcp_servers: McpServerStatus[]) =>
  ({ type: 'system', subtype: 'init', tools, mcp_servers }) as unknown as SDKMessage;

/** A watch over an agent that gives these accounts, one after the other. */
function watch(...accounts: (McpServerStatus[] | Error)[]) {
  const told: string[] = [];
  const client = {
    async mcpServerStatus() {
      const next = accounts.shift();
      if (next === undefined || next instanceof Error) throw next ?? new Error('asked too often');
      return next;
    },
  };
  return { told, servers: new ServerWatch(client, (line) => told.push(line)) };
}

const failed = (error?: string): McpServerStatus => ({
  name: 'a',
  status: 'failed',
  ...(error && { error }),
});

test('what failed before the turn is told with its fault', async () => {
  const { told, servers } = watch([failed('it left')]);
  servers.received(init(failed()));
  await servers.settled();
  expect(told).toEqual(['server a: failed: it left']);
});

test('what was on its way is looked at again at the end, and nothing is told twice', async () => {
  const late = (status: 'pending' | 'failed'): McpServerStatus => ({ name: 'b', status });
  const { told, servers } = watch([failed('it left'), late('pending')], [failed('it left'), late('failed')]);
  servers.received(init(failed(), late('pending')));
  await servers.settled();
  expect(told).toEqual(['server a: failed: it left', 'server b: failed']);
});

test('an agent that does not say what is wrong has said of whom', async () => {
  const { told, servers } = watch(new Error('not supported'));
  servers.received(init(failed()));
  await servers.settled();
  expect(told).toEqual(['server a: failed']);
});

test('servers that are well are not asked about', async () => {
  const { told, servers } = watch();
  servers.received(init({ name: 'a', status: 'connected' }));
  await servers.settled();
  expect(told).toEqual([]);
});

test('one that is still on its way at the end is told of, unless its tools were there: nothing waited for it then', async () => {
  const pending = (name: string): McpServerStatus => ({ name, status: 'pending' });
  const all = [pending('slow'), pending('past.one')];
  const { told, servers } = watch(all);
  servers.received(initWith(['Bash', 'mcp__past_one__search'], ...all));
  await servers.settled();
  expect(told).toEqual(['server slow: was not ready during this turn']);
});
