import { describe, expect, test } from 'vitest';
import { unsupportedOptions } from '../../../../src/agent/session/requests/control-requests.ts';
import { scene } from '../../../support/changing.ts';
import { raw } from '../../../support/drive.ts';

describe('control requests', () => {
  test('mcp_call: maps parameter names of the model schema to those of the server', async () => {
    const { list, host } = await scene();
    const properties = { 'user id': { type: 'string' }, q: { type: 'string' } };
    list({ name: 'echo', inputSchema: { type: 'object', properties } });
    const { ask, session } = raw([], host());
    await session.servers.settled();
    const [tool] = session.pool().tools;
    const told = Object.keys(tool?.inputSchema.properties ?? {});
    expect(told).not.toContain('user id');
    const args = Object.fromEntries(told.map((name) => [name, name === 'q' ? 'x' : 'me']));
    const { response } = await ask('mcp_call', { tool: 'mcp__s__echo', arguments: args });
    expect(response).toMatchObject({ content: [{ text: '{"user id":"me","q":"x"}' }] });
  });
});

test.each(['', ' '])('set_model refuses the empty name "%s" and keeps the model', async (model) => {
  const { ask, session } = raw([]);
  const before = session.modelName;
  expect(await ask('set_model', { model })).toMatchObject({ subtype: 'error' });
  expect(session.modelName).toBe(before);
});

describe('options without effect', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['nothing', {}, []],
    ['what asks for nothing', { plugins: [], promptSuggestions: false, toolAliases: undefined }, []],
    [
      'options',
      { toolAliases: { a: 'b' }, plugins: ['a'], title: 'T', hooks: {} },
      ['options.plugins has no effect with this agent', 'options.toolAliases has no effect with this agent'],
    ],
    [
      'members of agents',
      { agents: { a: { prompt: 'p', omitClaudeMd: true, effort: 3 }, b: { prompt: 'p', effort: 'low' } } },
      [
        'options.agents["a"].omitClaudeMd has no effect with this agent',
        'options.agents["a"].effort has no effect with this agent',
      ],
    ],
  ])('%s', (_, body, notes) => {
    expect(unsupportedOptions(body)).toEqual(notes);
  });
});
