import { expect, test } from 'vitest';
import { serverStatus } from '../../../src/agent/session/server-status.ts';
import type { ServerEntry } from '../../../src/mcp/connection/world.ts';
import type { Server, ServerView } from '../../../src/mcp/servers/server.ts';

const statusOf = (
  state: ServerView,
  entry: ServerEntry = { command: 'x' },
  origin: Server['origin'] = 'config',
) => serverStatus(new Map([['s', { entry, origin, state }]]))[0];

test.each([
  [{ kind: 'waiting' }, 'pending'],
  [{ kind: 'pending' }, 'pending'],
  [{ kind: 'disabled' }, 'disabled'],
  [{ kind: 'failed', fault: 'it fell' }, 'failed'],
] as const)('%j is %s', (state, status) => {
  expect(statusOf(state)).toEqual({
    name: 's',
    status,
    ...(state.kind === 'failed' && { error: 'it fell' }),
    config: { command: 'x' },
    transport: 'stdio',
    scope: 'dynamic',
    source: 'dynamic',
  });
});

test('a connected one tells its name, and of its tools only what they claim', () => {
  const inputSchema = { type: 'object' as const };
  const connection = { serverInfo: { name: 'real', version: '2' } } as never;
  const tools = [
    {
      name: 'a',
      inputSchema,
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
    },
    { name: 'b', inputSchema, annotations: { destructiveHint: true } },
    { name: 'c', inputSchema },
  ];
  expect(
    statusOf({ kind: 'connected', connection, tools, prompts: [] }, { type: 'sdk', name: 's' }, 'sdk'),
  ).toEqual({
    name: 's',
    status: 'connected',
    serverInfo: { name: 'real', version: '2' },
    tools: [
      { name: 'a', annotations: { readOnly: true, openWorld: true } },
      { name: 'b', annotations: { destructive: true } },
      { name: 'c', annotations: {} },
    ],
    transport: 'sdk',
    scope: 'dynamic',
    source: 'sdk',
  });
});

test('nothing secret is told: headers, variables, arguments, addresses, reasons', () => {
  const entries: ServerEntry[] = [
    { command: 'x', args: ['--api-key=open-sesame'], env: { A: 'open-sesame' } },
    { type: 'http', url: 'http://ada:open-sesame@host/?key=open-sesame', headers: { A: 'open-sesame' } },
  ];
  for (const entry of entries) {
    const status = statusOf({ kind: 'failed', fault: 'refused password=open-sesame' }, entry);
    expect(JSON.stringify(status)).not.toContain('sesame');
  }
});
