import { describe, expect, test } from 'vitest';
import { unsupportedOptions } from '../../../src/agent/session/control-requests.ts';
import { scene } from '../../support/changing.ts';
import { raw } from '../../support/drive.ts';

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

describe('options without effect', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['nothing', {}, []],
    ['what asks for nothing', { skills: [], promptSuggestions: false, toolAliases: undefined }, []],
    [
      'options',
      { toolAliases: { a: 'b' }, skills: ['a'], title: 'T', hooks: {} },
      ['options.skills has no effect with this agent', 'options.toolAliases has no effect with this agent'],
    ],
    [
      'members of agents',
      { agents: { a: { prompt: 'p', permissionMode: 'plan' }, b: 'none' } },
      ['options.agents["a"].permissionMode has no effect with this agent'],
    ],
  ])('%s', (_, body, notes) => {
    expect(unsupportedOptions(body)).toEqual(notes);
  });
});
