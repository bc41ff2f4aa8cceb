import { expect, test } from 'vitest';
import type { BuiltIn } from '../../../src/agent/builtins/built-in.ts';
import type { PoolCall } from '../../../src/agent/calls/pool-call.ts';
import { isConcurrent } from '../../../src/agent/calls/prepare-call.ts';
import type { ToolAnnotations } from '../../../src/protocol/mcp.ts';

function call(more: Partial<PoolCall>, annotations?: ToolAnnotations): PoolCall {
  const listed = {
    name: 'find',
    inputSchema: { type: 'object' as const },
    ...(annotations && { annotations }),
  };
  const origin = { kind: 'mcp', server: 's', tool: 'find' } as const;
  const definition = { ...listed, name: 'mcp__s__find', description: '', alwaysLoad: false, origin, listed };
  return {
    id: '1',
    name: definition.name,
    server: 's',
    tool: 'find',
    definition,
    input: {},
    isTrusted: false,
    ...more,
  };
}

test.each<[string, PoolCall, boolean]>([
  ['reads, by a server that is trusted', call({ isTrusted: true }, { readOnlyHint: true }), true],
  ['says it reads, by a server that is not', call({}, { readOnlyHint: true }), false],
  ['does not say that it reads', call({ isTrusted: true }), false],
  ['is a built-in that says so', call({ builtIn: { concurrency: 'others' } as BuiltIn }), true],
])('whether a call may run concurrently: one that %s', (_, it, expected) => {
  expect(isConcurrent(it)).toBe(expected);
});
