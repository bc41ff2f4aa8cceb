import { expect, test } from 'vitest';
import { BUILT_IN_NAMES, readCall } from '../../../../src/cli/commands/explain/answer.ts';

test.each([
  ['Bash', { name: 'Bash' }],
  ['Bash(git push)', { name: 'Bash', input: { command: 'git push' } }],
  ['Bash(git push:*)', { name: 'Bash', input: { command: 'git push' } }],
  ['Bash(git push *)', { name: 'Bash', input: { command: 'git push' } }],
  ['Bash(echo $(date) | wc -l)', { name: 'Bash', input: { command: 'echo $(date) | wc -l' } }],
  ['Bash(ls *.ts)', { name: 'Bash', input: { command: 'ls *.ts' } }],
  ['Bash()', { name: 'Bash' }],
  ['Bash(*)', { name: 'Bash' }],
  ['Read(~/.ssh/id_rsa)', { name: 'Read', input: { file_path: '~/.ssh/id_rsa' } }],
  ['Edit(src/**)', { name: 'Edit', input: { file_path: 'src/**' } }],
  ['Grep(src)', { name: 'Grep', input: { path: 'src' } }],
  ['Task(reviewer)', { name: 'Agent', input: { subagent_type: 'reviewer' } }],
  ['mcp__docs__search', { name: 'mcp__docs__search' }],
  ['mcp__docs__*', { name: 'mcp__docs__*' }],
  ['Bsh(git push)', { name: 'Bsh' }],
])('%s', (text, call) => {
  expect(readCall(text, BUILT_IN_NAMES)).toEqual(call);
});

test.each([
  ['Bash(git push', 'is invalid; write "Tool" or "Tool(pattern)"'],
  ['(git push)', 'is invalid; write "Tool" or "Tool(pattern)"'],
  ['Sleep(5)', 'Sleep does not support a pattern'],
  ['mcp__docs__search(x)', 'mcp__docs__search does not support a pattern'],
])('%s is not a call: %s', (text, fault) => {
  expect(readCall(text, BUILT_IN_NAMES)).toEqual({ fault: expect.stringContaining(fault) });
});
