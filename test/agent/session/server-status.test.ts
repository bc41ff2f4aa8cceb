import { describe, expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { type ConfiguredNames, serverStatus } from '../../../src/agent/session/server-status.ts';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import type { Server, ServerView } from '../../../src/mcp/servers/server-status.ts';
import { collect } from '../../support/collect.ts';
import { calc, drive } from '../../support/drive.ts';
import { fixture } from '../../support/fixture-server.ts';

describe('server status', () => {
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

  test('a connected server reports its name and the annotations of its tools', () => {
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

  test('headers, variables and secrets in arguments, URLs and errors are not reported', () => {
    const entries: ServerEntry[] = [
      { command: 'x', args: ['--api-key=open-sesame'], env: { A: 'open-sesame' } },
      { type: 'http', url: 'http://ada:open-sesame@host/?key=open-sesame', headers: { A: 'open-sesame' } },
    ];
    for (const entry of entries) {
      const status = statusOf({ kind: 'failed', fault: 'refused password=open-sesame' }, entry);
      expect(JSON.stringify(status)).not.toContain('sesame');
    }
  });
});

describe('session provenance', () => {
  const configured: ConfiguredNames = {
    scopeOf: (name) => (name === 'mine' ? 'user' : undefined),
    inactive: () => [{ name: 'files', scope: 'project', state: 'pending', why: '"files" is not started' }],
  };

  test('init, status, hooks and permission prompts report the same source of a server', async () => {
    const hooked: unknown[] = [];
    const { query, frames } = drive(
      [toolUse('mcp__mine__echo', { text: 'a' }), toolUse('mcp__given__echo', { text: 'b' }), text('ok')],
      {
        mcpServers: { calc: calc() },
        canUseTool: async () => ({ behavior: 'allow' }),
        hooks: {
          PreToolUse: [
            {
              hooks: [
                async (input) => {
                  hooked.push((input as { mcp_server?: unknown }).mcp_server);
                  return {};
                },
              ],
            },
          ],
        },
      },
      { servers: { mine: fixture(), given: fixture() }, configured },
    );
    const messages = await collect(query);
    const asked = frames.flatMap(({ frame }) => {
      const request = frame.request as { subtype?: string; mcp_server?: unknown } | undefined;
      return request?.subtype === 'can_use_tool' ? [request.mcp_server] : [];
    });
    const sources = [
      { name: 'mine', source: 'user' },
      { name: 'given', source: 'dynamic' },
    ];
    expect({ hooked, asked }).toEqual({ hooked: sources, asked: sources });
    expect(messages[0]).toMatchObject({
      mcp_servers: [
        { name: 'mine', status: 'connected', source: 'user' },
        { name: 'given', status: 'connected', source: 'dynamic' },
        { name: 'calc', status: 'connected', source: 'sdk' },
        { name: 'files', status: 'disabled', source: 'project' },
      ],
    });
  });

  test('servers that may not be started are reported as disabled, with the reason', async () => {
    const { query } = drive([], { mcpServers: { calc: calc() } }, { configured });
    expect(await query.mcpServerStatus()).toMatchObject([
      { name: 'calc', source: 'sdk' },
      {
        name: 'files',
        status: 'disabled',
        scope: 'project',
        source: 'project',
        configured: 'pending',
        error: '"files" is not started',
      },
    ]);
  });
});
