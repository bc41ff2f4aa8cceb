import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { BUILT_INS } from '../../../src/agent/builtins/table.ts';
import { subjectKind } from '../../../src/permissions/subject.ts';
import { call, directoryWith, failed, worldIn } from './built-in-world.ts';

const NAMES = [
  'Agent',
  'AskUserQuestion',
  'Bash',
  'ClaimTask',
  'CompleteTask',
  'CronCreate',
  'CronDelete',
  'CronList',
  'Edit',
  'EnterPlanMode',
  'ExitPlanMode',
  'EnterWorktree',
  'ExitWorktree',
  'Glob',
  'Grep',
  'ListMcpResourcesTool',
  'ListAgents',
  'Monitor',
  'NotebookEdit',
  'Read',
  'ReadMcpResourceTool',
  'ScheduleWakeup',
  'SendMessage',
  'Skill',
  'Sleep',
  'SubmitPlan',
  'TaskStop',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TodoWrite',
  'ToolSearch',
  'WebFetch',
  'WebSearch',
  'Write',
  'connect_mcp',
];

test('the tools have the names that models know, sorted', () => {
  expect(BUILT_INS.map(({ listed }) => listed.name)).toEqual(NAMES);
});

test('exactly the tools that change nothing themselves say that they only read', () => {
  const reading = BUILT_INS.filter(({ listed }) => listed.annotations?.readOnlyHint === true);
  expect(reading.map(({ listed }) => listed.name)).toEqual([
    'AskUserQuestion',
    'CronList',
    'Glob',
    'Grep',
    'ListMcpResourcesTool',
    'ListAgents',
    'Read',
    'ReadMcpResourceTool',
    'Skill',
    'Sleep',
    'TaskGet',
    'TaskList',
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
  '%s has a closed schema and answers a wrong input with its errors',
  async (name, tool) => {
    expect(tool.listed.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    const outcome = await call(tool, { unheardOf: 1 }, worldIn(directoryWith()));
    expect(outcome).toEqual(
      failed(
        expect.stringMatching(
          new RegExp(
            `InputValidationError: ${name} failed .*\n(The required parameter|An unexpected parameter)`,
          ),
        ),
      ),
    );
  },
);

test.each(BUILT_INS.map((tool) => [tool.listed.name, tool] as const))(
  '%s does nothing once it is interrupted',
  async (name, tool) => {
    const cwd = directoryWith({ a: 'x' });
    const input = {
      AskUserQuestion: {
        questions: [
          {
            question: 'q',
            header: 'h',
            options: [
              { label: 'a', description: '' },
              { label: 'b', description: '' },
            ],
          },
        ],
      },
      Bash: { command: 'echo > made' },
      ClaimTask: {},
      CompleteTask: {},
      SubmitPlan: { plan: 'p' },
      Edit: { file_path: 'a', old_string: 'x', new_string: 'y' },
      EnterPlanMode: {},
      ExitPlanMode: {},
      EnterWorktree: { name: 'made' },
      ExitWorktree: { action: 'keep' },
      CronCreate: { cron: '* * * * *', prompt: 'p' },
      CronDelete: { id: 'a' },
      CronList: {},
      ScheduleWakeup: {},
      Glob: { pattern: '*' },
      Grep: { pattern: 'x' },
      ListMcpResourcesTool: {},
      Read: { file_path: 'a' },
      ReadMcpResourceTool: { server: 's', uri: 'u' },
      Sleep: { seconds: 60 },
      TaskCreate: { subject: 's', description: 'd' },
      TaskGet: { taskId: '1' },
      TaskList: {},
      TaskUpdate: { taskId: '1', status: 'deleted' },
      TodoWrite: { todos: [] },
      ToolSearch: { query: 'x' },
      Agent: { description: 'd', prompt: 'p', subagent_type: 't' },
      ListAgents: {},
      Monitor: { description: 'd', command: 'echo > made' },
      NotebookEdit: { notebook_path: 'a.ipynb', new_source: '' },
      WebSearch: { query: 'qq' },
      WebFetch: { url: 'https://example.invalid', prompt: 'p' },
      TaskStop: { task_id: 'a' },
      SendMessage: { to: 'a', message: 'm' },
      Skill: { skill: 's' },
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
