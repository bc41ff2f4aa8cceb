import { expect, test } from 'vitest';
import { wantsJson } from '../../../src/cli/host/error-document.ts';

test.each<[string[], boolean]>([
  [['node', 'toolplane', 'mcp', 'list', '--json'], true],
  [['node', 'toolplane', 'mcp', 'list'], false],
  [['node', 'toolplane', 'mcp', 'add', 'x', '--', 'cmd', '--json'], false],
  [['node', 'toolplane', 'mcp', 'add', '--json', 'x', '--', 'cmd'], true],
])('%j: a document is wanted: %j', (argv, wanted) => {
  expect(wantsJson(argv)).toBe(wanted);
});
