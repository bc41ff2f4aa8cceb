import { expect, test } from 'vitest';
import * as z from 'zod';
import { McpServer } from '../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { rawServer } from '../../mcp/support/raw-servers.ts';
import { collect } from '../../support/collect.ts';
import { allow, drive, resultOf, results } from '../../support/drive.ts';

/** A server whose tool `deep` answers with a result in which one member is nested as deep as its description says. */
const deepServer = (member: string) => ({
  ...rawServer(`(message, send, greet) => {
    const { id, method, params } = message;
    if (method === 'initialize') return greet(message);
    const tools = ['deep', 'flat'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    if (method === 'tools/list') return send({ id, result: { tools } });
    if (method !== 'tools/call') return;
    if (params.name === 'flat') return send({ id, result: { content: [{ type: 'text', text: 'fine' }] } });
    process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + ${member} + '}\\n');
  }`),
  era: 'legacy' as const,
});

const nested = (open: string, close: string, levels: number) =>
  `'${open}'.repeat(${levels}) + '1' + '${close}'.repeat(${levels})`;

const OBJECT = ['{"a":', '}'] as const;
const LIST = ['[', ']'] as const;

test.each([
  ['structuredContent, objects', `'{"content":[],"structuredContent":' + ${nested(...OBJECT, 5_000)} + '}'`],
  [
    'structuredContent, lists',
    `'{"content":[],"structuredContent":{"a":' + ${nested(...LIST, 100_000)} + '}}'`,
  ],
  ['content', `'{"content":' + ${nested(...LIST, 5_000)} + '}'`],
  ['_meta', `'{"content":[],"_meta":' + ${nested(...OBJECT, 100_000)} + '}'`],
  ['a block', `'{"content":[{"type":"text","text":"x","annotations":' + ${nested(...OBJECT, 5_000)} + '}]}'`],
])('a result that is nested too deeply fails only its own call: %s', async (_, member) => {
  const { query, model } = drive(
    [
      together(toolUse('mcp__far__deep', {}, 'd'), toolUse('mcp__far__flat', {}, 'f')),
      toolUse('mcp__far__flat', {}, 'again'),
      text('done'),
    ],
    {},
    { servers: { far: deepServer(member) }, rules: allow('mcp__far') },
  );
  const messages = await collect(query);
  expect(resultOf(messages)).toMatchObject({ subtype: 'success', result: 'done' });
  expect(results(model.requests.at(-1))).toMatchObject({
    d: expect.stringMatching(/^!.*nested more than 512 levels deep/),
    f: 'fine',
    again: 'fine',
  });
});

const deepJson = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const deep = (levels: number) => JSON.parse(deepJson(levels)) as Record<string, unknown>;

test.each([600, 5_000, 100_000])(
  'a tool of the program that returns %d levels fails only its own call',
  async (levels) => {
    const far = toolServer('far')
      .tool('whole', 'A whole result', {}, () => ({ content: [], structuredContent: deep(levels) }))
      .tool('blocks', 'Deep in a block', {}, () => ({
        content: [{ type: 'text' as const, text: 'x', _meta: deep(levels) }],
      }))
      .tool('flat', 'Fine', {}, () => 'fine');
    const { query, model } = drive(
      [
        together(
          toolUse('mcp__far__whole', {}, 'w'),
          toolUse('mcp__far__blocks', {}, 'b'),
          toolUse('mcp__far__flat', {}, 'f'),
        ),
        text('done'),
      ],
      { mcpServers: { far } },
      { rules: allow('mcp__far') },
    );
    expect(resultOf(await collect(query))).toMatchObject({ subtype: 'success', result: 'done' });
    expect(results(model.requests.at(-1))).toMatchObject({
      w: expect.stringMatching(/^!.*nested more than 512 levels deep/),
      b: expect.stringMatching(/^!.*nested more than 512 levels deep/),
      f: 'fine',
    });
  },
);

test.each([600, 5_000, 100_000])(
  'a tool of an McpServer instance that returns %d levels fails only its own call',
  async (levels) => {
    const instance = new McpServer({ name: 'own', version: '1' });
    instance.registerTool('deep', {}, async () => ({ content: [], structuredContent: deep(levels) }));
    instance.registerTool('flat', {}, async () => ({ content: [{ type: 'text', text: 'fine' }] }));
    const { query, model } = drive(
      [together(toolUse('mcp__own__deep', {}, 'd'), toolUse('mcp__own__flat', {}, 'f')), text('done')],
      { mcpServers: { own: { type: 'sdk', name: 'own', instance } } as never },
      { rules: allow('mcp__own') },
    );
    expect(resultOf(await collect(query))).toMatchObject({ subtype: 'success', result: 'done' });
    expect(results(model.requests.at(-1))).toMatchObject({ d: expect.stringMatching(/^!/), f: 'fine' });
  },
);

test.each([600, 5_000, 100_000])('arguments nested %d levels deep fail only their call', async (levels) => {
  const far = toolServer('far').tool('any', 'Takes anything', { a: z.any() }, () => 'ran');
  const { query, model } = drive(
    [toolUse('mcp__far__any', deepJson(levels), 'd'), text('done')],
    { mcpServers: { far } },
    { rules: allow('mcp__far') },
  );
  expect(resultOf(await collect(query))).toMatchObject({ subtype: 'success', result: 'done' });
  expect(results(model.requests.at(-1))).toMatchObject({
    d: expect.stringMatching(/^!.*nested more than 512 levels deep/),
  });
});
