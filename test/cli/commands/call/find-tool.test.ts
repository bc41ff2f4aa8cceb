import { describe, expect, test } from 'vitest';
import { callTarget, findTool } from '../../../../src/cli/commands/call/find-tool.ts';
import { closestFullName } from '../../../../src/cli/host/named-servers.ts';
import { aliasesOf } from '../../../../src/pool/unique-names.ts';

describe('call target', () => {
  const SERVERS = ['docs', 'a', 'a__b', 'my server', 'mcp__odd__name', 'team/docs'];

  test.each([
    ['docs search q=1', { server: 'docs', tool: 'search', words: ['q=1'] }],
    ['docs mcp__docs__search q=1', { server: 'docs', tool: 'mcp__docs__search', words: ['q=1'] }],
    ['mcp__docs__search q=1 r=2', { server: 'docs', tool: 'mcp__docs__search', words: ['q=1', 'r=2'] }],
    ['mcp__docs__search', { server: 'docs', tool: 'mcp__docs__search', words: [] }],
    ['mcp__docs__search -', { server: 'docs', tool: 'mcp__docs__search', words: ['-'] }],
    ['mcp__my_server__x', { server: 'my server', tool: 'mcp__my_server__x', words: [] }],
    ['mcp__a__b__c', { server: 'a__b', tool: 'mcp__a__b__c', words: [] }],
    ['mcp__a__c', { server: 'a', tool: 'mcp__a__c', words: [] }],
    ['mcp__odd__name x', { server: 'mcp__odd__name', tool: 'x', words: [] }],
    ['docs/search q=1', { server: 'docs', tool: 'search', words: ['q=1'] }],
    ['team/docs search', { server: 'team/docs', tool: 'search', words: [] }],
    ['team/docs/search', { server: 'team/docs', tool: 'search', words: [] }],
    ['docs', { server: 'docs', words: [] }],
    ['mcp__none__x q=1', { server: 'mcp__none__x', tool: 'q=1', words: [] }],
  ])('%s', (line, target) => {
    expect(callTarget(line.split(' '), SERVERS)).toEqual(target);
  });

  test.each([
    ['mcp__dcs__search', 'mcp__docs__search'],
    ['mcp__zzzzzzzz__search', undefined],
    ['dosc', undefined],
  ])('the closest full name to %s is %s', (name, meant) => {
    expect(closestFullName(name, ['docs', 'deploy'])).toBe(meant);
  });
});

describe('find tool', () => {
  const tool = (name: string, server = 'docs') => ({ name, server, inputSchema: {} });
  const TOOLS = [tool('a.b'), tool('search'), tool('x', 'other')];
  const find = (name: string, entry: object = {}) =>
    findTool(TOOLS, { servers: { docs: { command: 'docs', ...entry } }, server: 'docs', tool: name });

  test('finds a tool by its own name and by its full name', () => {
    expect(find('search')).toBe(TOOLS[1]);
    expect(find('mcp__docs__a_b')).toBe(TOOLS[0]);
  });

  test('finds a tool by its alias', () => {
    for (const alias of aliasesOf('docs', 'a.b')) expect(find(alias)).toBe(TOOLS[0]);
  });

  test.each([
    ['serch', {}, 'server docs has no tool "serch"; did you mean "search"? (available: a.b, search)'],
    [
      'mcp__docs__serch',
      {},
      'server docs has no tool "serch"; did you mean "search"? (available: a.b, search)',
    ],
    ['x', {}, 'server docs has no tool "x" (available: a.b, search)'],
    [
      'drop',
      { includeTools: ['search', 'a*'] },
      'server docs: tool "drop" is excluded by "includeTools" or "excludeTools" of the server entry (available: a.b, search)',
    ],
    [
      'drop',
      { excludeTools: ['d*'] },
      'server docs: tool "drop" is excluded by "includeTools" or "excludeTools" of the server entry (available: a.b, search)',
    ],
  ])('%s with %j is explained', (name, entry, message) => {
    expect(() => find(name, entry)).toThrow(message);
  });

  test.each(['p.q', 'mcp__docs__p_q'])('%s, which its server lists with a fault, is explained', (name) => {
    const subject = { kind: 'list', list: 'tools', entry: 'p.q', fault: 'it is nested too deeply' } as const;
    const warnings = [
      { server: 'docs', message: 'x', subject: { ...subject, outcome: 'set-aside' as const } },
    ];
    const wanted = { servers: { docs: { command: 'docs' } }, server: 'docs', tool: name, warnings };
    expect(() => findTool(TOOLS, wanted)).toThrow('cannot be called: it is nested too deeply');
    expect(() => findTool(TOOLS, { ...wanted, warnings: [] })).toThrow('server docs has no tool');
  });
});
