import { expect, test } from 'vitest';
import type { PoolCall } from '../../../src/host/call/pool-call.ts';
import { suggest } from '../../../src/host/call/suggest.ts';
import type { Origin } from '../../../src/host/pool/assemble.ts';

function call(name: string, input: object, origin: Origin, _meta?: object): PoolCall {
  const listed = { name, inputSchema: { type: 'object' as const }, ...(_meta && { _meta }) };
  const tool = { name, description: '', inputSchema: listed.inputSchema, origin, listed };
  return { id: '1', tool, input: input as PoolCall['input'], isTrusted: true } as PoolCall;
}

const builtIn = (tool: string): Origin => ({ kind: 'builtin', tool });
const mcp: Origin = { kind: 'mcp', server: 's', tool: 'Bash' };
const always = (rule: object) => [
  { type: 'addRules', rules: [rule], behavior: 'allow', destination: 'session' },
];

test.each([
  [
    'a command: that very command',
    call('Bash', { command: 'ls -l' }, builtIn('Bash')),
    always({ toolName: 'Bash', ruleContent: 'ls -l' }),
  ],
  [
    'a kind of sub-agent',
    call('Task', { subagent_type: 'k' }, builtIn('Task')),
    always({ toolName: 'Task', ruleContent: 'k' }),
  ],
  [
    'an edit: the mode',
    call('Write', { file_path: '/a' }, builtIn('Write')),
    [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
  ],
  [
    'a read: the tool, not the one path',
    call('Read', { file_path: '/a' }, builtIn('Read')),
    always({ toolName: 'Read' }),
  ],
  [
    'a tool of a server: the tool, whatever its input looks like',
    call('mcp__s__Bash', { command: 'ls' }, mcp),
    always({ toolName: 'mcp__s__Bash' }),
  ],
  [
    'a tool that wants a person every time: nothing',
    call('mcp__s__x', {}, mcp, { 'anthropic/requiresUserInteraction': true }),
    [],
  ],
  ['a command that is none', call('Bash', { command: 7 }, builtIn('Bash')), always({ toolName: 'Bash' })],
])('"always" for %s', (_, given, expected) => {
  expect(suggest(given)).toEqual(expected);
});
