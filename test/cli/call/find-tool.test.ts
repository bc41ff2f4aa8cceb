import { expect, test } from 'vitest';
import { findTool } from '../../../src/cli/call/find-tool.ts';
import { aliasesOf } from '../../../src/pool/alias.ts';

const tool = (name: string, server = 'docs') => ({ name, server, inputSchema: {} });
const TOOLS = [tool('a.b'), tool('search'), tool('x', 'other')];
const find = (name: string, entry: object = {}) =>
  findTool(TOOLS, { servers: { docs: { command: 'docs', ...entry } }, server: 'docs', tool: name });

test('a tool is known by its own name, and by the one that models know', () => {
  expect(find('search')).toBe(TOOLS[1]);
  expect(find('mcp__docs__a_b')).toBe(TOOLS[0]);
});

test('a tool is known by its alias', () => {
  for (const alias of aliasesOf('docs', 'a.b')) expect(find(alias)).toBe(TOOLS[0]);
});

test.each([
  ['serch', {}, 'server docs has no tool "serch"; did you mean "search"? (it has a.b, search)'],
  ['mcp__docs__serch', {}, 'server docs has no tool "serch"; did you mean "search"? (it has a.b, search)'],
  ['x', {}, 'server docs has no tool "x" (it has a.b, search)'],
  [
    'drop',
    { includeTools: ['search', 'a*'] },
    'server docs: its entry leaves out "drop", by "includeTools" or "excludeTools" (it has a.b, search)',
  ],
  [
    'drop',
    { excludeTools: ['d*'] },
    'server docs: its entry leaves out "drop", by "includeTools" or "excludeTools" (it has a.b, search)',
  ],
])('%s with %j is explained', (name, entry, message) => {
  expect(() => find(name, entry)).toThrow(message);
});

test.each(['p.q', 'mcp__docs__p_q'])('%s, which its server lists wrongly, is explained', (name) => {
  const subject = { kind: 'list', list: 'tools', entry: 'p.q', fault: 'it is nested too deeply' } as const;
  const warnings = [{ server: 'docs', message: 'x', subject: { ...subject, outcome: 'set-aside' as const } }];
  const wanted = { servers: { docs: { command: 'docs' } }, server: 'docs', tool: name, warnings };
  expect(() => findTool(TOOLS, wanted)).toThrow('but it cannot be called: it is nested too deeply');
  expect(() => findTool(TOOLS, { ...wanted, warnings: [] })).toThrow('server docs has no tool');
});
