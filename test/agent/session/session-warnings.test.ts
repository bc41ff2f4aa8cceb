import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { script } from '../../mcp/connection/servers.ts';
import { collect } from '../../support/collect.ts';
import { allow, drive } from '../../support/drive.ts';

/** A server on stdio that lists these tools, whatever they are. */
const listing = (tools: unknown[]) =>
  script(`
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
      else if (method === 'tools/list') send({ id, result: { tools: ${JSON.stringify(tools)} } });
      else send({ id, error: { code: -32601, message: 'no' } });
    });
  `);
const BAD = { name: 'bad', inputSchema: 7 };
const GOOD = { name: 'good', inputSchema: { type: 'object' } };

test('a tool that cannot be offered is told of, and so is one under another name', async () => {
  const notes: string[] = [];
  const { query, model } = drive(
    [text('ok'), text('ok')],
    {},
    {
      servers: { s: listing([BAD, GOOD, { ...GOOD, name: 'go od' }, { ...GOOD, name: 'go_od' }]) },
      note: (it) => notes.push(it),
    },
  );
  await collect(query);
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual([
    'mcp__s__go_od',
    expect.stringMatching(/^mcp__s__go_od_[0-9a-f]{8}$/),
    'mcp__s__good',
  ]);
  expect(notes).toEqual([
    expect.stringMatching(/^MCP server "s": .*bad.*inputSchema/),
    expect.stringMatching(
      /^tool "go_od" of server "s" is offered as mcp__s__go_od_\w{8}: another tool has its name/,
    ),
  ]);
});

test('so are those of a sub-agent’s own servers', async () => {
  const notes: string[] = [];
  const { query } = drive(
    [toolUse('Task', { description: 'd', prompt: 'p', subagent_type: 'helper' }), text('done'), text('ok')],
    {},
    {
      builtIns: ['Task'],
      rules: allow('Task'),
      agents: { helper: { description: 'h', prompt: 'Help.', mcpServers: [{ own: listing([BAD, GOOD]) }] } },
      note: (it) => notes.push(it),
    },
  );
  await collect(query);
  expect(notes).toEqual([expect.stringMatching(/^MCP server "own" of the sub-agent helper: .*bad/)]);
});
