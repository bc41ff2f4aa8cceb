import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { ConfiguredNames } from '../../../src/agent/session/server-status.ts';
import { collect } from '../../support/collect.ts';
import { calc, drive } from '../../support/drive.ts';
import { fixture } from '../../support/fixture-server.ts';

const configured: ConfiguredNames = {
  scopeOf: (name) => (name === 'mine' ? 'user' : undefined),
  aside: () => [{ name: 'files', scope: 'project', state: 'pending', why: '"files" is not started' }],
};

test('init, status, hooks and questions tell the same source of a server', async () => {
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

test('what may not be started is disabled for programs, with the word and the reason why', async () => {
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
