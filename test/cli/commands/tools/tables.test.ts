import { expect, test } from 'vitest';
import { changeTable } from '../../../../src/cli/commands/tools/changes.ts';
import type { ServerReport, ToolReport, ToolsReport } from '../../../../src/cli/commands/tools/report.ts';
import { costTable, marksOf, matchTable, toolTable } from '../../../../src/cli/commands/tools/tools.ts';
import { firstLine } from '../../../../src/cli/output/format.ts';

import { findToolChange } from '../../../../src/pool/pinning/tool-change.ts';

const tool = (name: string, tokens: number, more: Partial<ToolReport> = {}): ToolReport => ({
  name,
  pooledName: `mcp__x__${name}`,
  inputSchema: { type: 'object' },
  tokens,
  ...more,
});

const server = (
  name: string,
  tools: readonly ToolReport[],
  more: Partial<ServerReport> = {},
): ServerReport => ({
  name,
  status: 'connected',
  tools,
  tokens: tools.reduce((sum, it) => sum + it.tokens, 0),
  warnings: [],
  ...more,
});

const GITHUB = server('github', [
  tool('list_issues', 90, {
    description: 'Lists issues\nof a repository',
    annotations: { readOnlyHint: true },
  }),
  tool('delete', 30_000, { description: 'Deletes it', annotations: { destructiveHint: true } }),
]);
const DOCS = server('docs', [tool('b', 10), tool('a', 10)], { serverInfo: { name: 'docs', version: '1.2' } });
const GONE = server('gone', [], { status: 'failed', error: 'no' });

const report = (servers: readonly ServerReport[], tokens: number): ToolsReport => ({
  servers,
  notStarted: [],
  totals: {
    servers: servers.length,
    connected: 2,
    tools: 4,
    tokens,
    window: 200_000,
    withToolSearch: 301,
    searchAbove: 20_000,
  },
});

test('lists tools below their servers, truncated to the terminal; a failed server has none', () => {
  expect(toolTable({ servers: [GITHUB, GONE, DOCS, server('none', [])] }, 40)).toEqual([
    'github (2 tools)',
    '  list_issues  readOnly     Lists issues',
    '  delete       destructive  Deletes it',
    '',
    'docs (2 tools, docs 1.2)',
    '  b',
    '  a',
    '',
    'none (0 tools)',
  ]);
});

test('lists costs highest first, then by name, with shares of servers and of all', () => {
  expect(costTable(report([DOCS, GONE, GITHUB], 30_110), undefined)).toEqual([
    '                  tools  tokens   share',
    'github                2  30,090  15.0 %',
    '  delete                 30,000',
    '  list_issues                90',
    'docs                  2      20   0.0 %',
    '  a                          10',
    '  b                          10',
    'all                   4  30,110  15.1 %',
    'with tool search            301   0.2 %',
    '',
    'Shares refer to a context window of 200,000 tokens.',
    'Above 20,000 tokens (10.0 %), tool search is used, which saves 99.0 %.',
  ]);
});

test('below the budget, states that all tools are sent', () => {
  expect(costTable(report([DOCS], 20), undefined).at(-1)).toBe(
    'Up to 20,000 tokens (10.0 %) all tools are sent to the model; above that, tool search is used.',
  );
});

test('lists search results, best first', () => {
  const found = { server: 'github', name: 'delete', pooledName: 'mcp__github__delete', score: 2 };
  const matches = [found, { ...found, name: 'list_issues', score: 1 }];
  expect(matchTable({ ...report([GITHUB], 0), matches }, undefined)).toEqual([
    'github  delete       destructive  Deletes it',
    'github  list_issues  readOnly     Lists issues',
  ]);
});

test.each([
  [undefined, ''],
  [{ readOnlyHint: true, destructiveHint: false }, 'readOnly'],
  [{ readOnlyHint: true, destructiveHint: true }, 'readOnly destructive'],
])('%j is shown as %j', (annotations, marks) => {
  expect(marksOf(annotations ? { annotations } : {})).toBe(marks);
});

test.each([
  [undefined, ''],
  ['', ''],
  ['\n\n  First.  \nSecond.', 'First.'],
])('%j begins with %j', (description, line) => {
  expect(firstLine(description)).toBe(line);
});

test('lists a change part by part; names hidden characters', () => {
  const before = { name: 'search', description: 'Search', inputSchema: { type: 'object' } };
  const at = { server: 'docs', place: 'p' };
  const changed = findToolChange(at, before, { ...before, description: 'Search and send' });
  const hidden = findToolChange(at, undefined, { ...before, description: 'Search\u200b' });
  const lines = changeTable(
    [changed, hidden].flatMap((it) => it ?? []),
    undefined,
  );
  expect(lines).toHaveLength(4);
  expect(lines[0]).toBe('docs search (1 change)');
  expect(lines[1]).toMatch(/^ {2}high {2}.*and send/);
  expect(lines[2]).toBe('docs search');
  expect(lines[3]).toMatch(/^ {2}the tool contains deceptive characters: its description has 1 /);
});
