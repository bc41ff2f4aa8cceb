import { expect, test } from 'vitest';
import { entryText } from '../../../src/cli/mcp/entries.ts';

test.each<[object, string]>([
  [{ command: 'npx', args: ['-y', 'pkg', 'two words', ''] }, 'stdio: npx -y pkg "two words" ""'],
  [{ type: 'sse', url: 'https://a.test/${X}' }, 'sse: https://a.test/${X}'],
  [{ url: 'https://a.test/?token=hunter22' }, 'http: https://a.test/?token=[redacted]'],
  [{ command: 'run', args: ['--token', 'hunter2222'] }, 'stdio: run --token [hidden]'],
])('formats %j as %s', (entry, text) => {
  expect(entryText(entry)).toBe(text);
});
