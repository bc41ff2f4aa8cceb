import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { BUILT_INS } from '../../../src/agent/builtins/table.ts';
import { subjectKind } from '../../../src/permissions/subject.ts';
import { call, directoryWith, failed, worldIn } from './built-in-world.ts';

const NAMES = [
  'Bash',
  'Edit',
  'Glob',
  'Grep',
  'ListMcpResourcesTool',
  'Read',
  'ReadMcpResourceTool',
  'Sleep',
  'Task',
  'ToolSearch',
  'Write',
  'connect_mcp',
];

test('the tools have the names agents know, in order', () => {
  expect(BUILT_INS.map(({ listed }) => listed.name)).toEqual(NAMES);
});

test('exactly the tools that change nothing say that they only read', () => {
  const reading = BUILT_INS.filter(({ listed }) => listed.annotations?.readOnlyHint === true);
  expect(reading.map(({ listed }) => listed.name)).toEqual([
    'Glob',
    'Grep',
    'ListMcpResourcesTool',
    'Read',
    'ReadMcpResourceTool',
    'Sleep',
    'ToolSearch',
  ]);
});

test('exactly the tools whose rules are about paths have their path resolved', () => {
  const resolved = BUILT_INS.filter(({ pathMember }) => pathMember !== undefined);
  expect(resolved.map(({ listed }) => listed.name)).toEqual(
    NAMES.filter((name) => subjectKind(name) === 'path'),
  );
});

test.each(BUILT_INS.map((tool) => [tool.listed.name, tool] as const))(
  '%s has a closed schema and answers a wrong input with one line',
  async (name, tool) => {
    expect(tool.listed.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    const outcome = await call(tool, { unheardOf: 1 }, worldIn(directoryWith()));
    expect(outcome).toEqual(
      failed(expect.stringMatching(new RegExp(`^${name}: ("\\w+" is missing|unknown parameter)`))),
    );
  },
);

test.each(BUILT_INS.map((tool) => [tool.listed.name, tool] as const))(
  '%s does nothing once it is interrupted',
  async (name, tool) => {
    const cwd = directoryWith({ a: 'x' });
    const input = {
      Bash: { command: 'echo > made' },
      Edit: { file_path: 'a', old_string: 'x', new_string: 'y' },
      Glob: { pattern: '*' },
      Grep: { pattern: 'x' },
      ListMcpResourcesTool: {},
      Read: { file_path: 'a' },
      ReadMcpResourceTool: { server: 's', uri: 'u' },
      Sleep: { seconds: 60 },
      ToolSearch: { query: 'x' },
      Task: { description: 'd', prompt: 'p', subagent_type: 't' },
      Write: { file_path: 'made', content: '' },
      connect_mcp: { name: 'a' },
    }[name] as Record<string, unknown>;
    expect(await tool.run(input, worldIn(cwd), AbortSignal.abort())).toEqual(
      failed(`${name} was interrupted`),
    );
  },
);

test('reading the table loads neither processes, threads nor cryptography', () => {
  const table = new URL('../../../src/agent/builtins/table.ts', import.meta.url).href;
  const script = `
    const before = new Set(process.moduleLoadList);
    await import(${JSON.stringify(table)});
    console.log(process.moduleLoadList.filter((it) => !before.has(it)).join('\\n'));
  `;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(loaded).not.toMatch(/NativeModule (child_process|worker_threads|crypto)$/m);
});
