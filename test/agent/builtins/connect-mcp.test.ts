import { expect, test } from 'vitest';
import type { ConnectOutcome } from '../../../src/agent/builtins/built-in.ts';
import { CONNECT_MCP } from '../../../src/agent/builtins/mcp-tools.ts';
import type { ToolOutcome } from '../../../src/agent/loop/run-calls.ts';
import { call, directoryWith, done, failed, worldIn } from './built-in-world.ts';

test.each<[ConnectOutcome, ToolOutcome]>([
  [
    { kind: 'connected', tools: ['mcp__docs__search', 'mcp__docs__read'] },
    done("Connected to 'docs'. Discovered: mcp__docs__search, mcp__docs__read"),
  ],
  [{ kind: 'connected', tools: [] }, done("Connected to 'docs'. Discovered: (none)")],
  [
    { kind: 'connected', tools: ['mcp__docs__search'], searchable: 1 },
    done("Connected to 'docs'. Discovered: mcp__docs__search. Use ToolSearch to find and load the tools"),
  ],
  [
    { kind: 'connected', tools: Array.from({ length: 102 }, (_, at) => `t${at}`) },
    done(expect.stringMatching(/Discovered: t0, .*, t99 and 2 more$/)),
  ],
  [{ kind: 'already-connected' }, done("MCP server 'docs' already connected")],
  [{ kind: 'unknown', available: ['a', 'b'] }, failed("Unknown server 'docs'. Available: a, b")],
  [{ kind: 'failed', fault: 'it did not answer' }, failed("Could not connect to 'docs': it did not answer")],
])('%j', async (outcome, told) => {
  const dialled: string[] = [];
  const world = worldIn(directoryWith(), {
    connect: async (name) => {
      dialled.push(name);
      return outcome;
    },
  });
  expect(await call(CONNECT_MCP, { name: 'docs' }, world)).toEqual(told);
  expect(dialled).toEqual(['docs']);
});
