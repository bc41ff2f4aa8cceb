import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ModelScript, text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../src/agent/session/session.ts';
import { usesListsByDefault } from '../../../src/agent/session/session-context.ts';
import { isReminderDue } from '../../../src/agent/task-list/lists.ts';
import { restoredTodos, type Todo } from '../../../src/agent/task-list/todo-list.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { drive, untilResult } from '../../support/drive.ts';
import { directoryWith } from '../builtins/built-in-world.ts';

const TASK_TOOLS = ['TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'];

function todo(content: string, status: Todo['status'] = 'pending'): Todo {
  return { content, status, activeForm: `${content}ing` };
}

async function use(script: ModelScript, host: Partial<SessionOptions>, options: Options = {}) {
  const { query, model, session } = drive(script, options, host);
  const messages = await untilResult(query);
  const results = messages.flatMap((it) => (it.type === 'user' ? [it.tool_use_result] : []));
  return { results, model, session, denials: messages.findLast((it) => it.type === 'result') };
}

describe('which sessions are offered the tools for lists', () => {
  const rule = (tool: string) => ({ tool, effect: 'allow', source: 'cliArg' }) as const;
  test.each<[string, Partial<SessionOptions>, readonly string[]]>([
    ['a newer model', { modelName: 'claude-sonnet-5' }, []],
    ['an older model', { modelName: 'claude-haiku-4-5' }, TASK_TOOLS],
    ['an older model with todos', { modelName: 'claude-haiku-4-5', lists: { kind: 'todos' } }, ['TodoWrite']],
    ['an allow rule of the program', { rules: [rule('TaskGet')] }, TASK_TOOLS],
    ['an allow rule for TodoWrite', { rules: [rule('TodoWrite')] }, TASK_TOOLS],
    ['a rule of a file', { rules: [{ ...rule('TaskGet'), source: 'userSettings' }] }, []],
    ['named tools', { builtIns: ['TaskGet', 'TodoWrite'] }, ['TaskGet']],
    [
      'named tools with todos',
      { builtIns: ['TaskGet', 'TodoWrite'], lists: { kind: 'todos' } },
      ['TodoWrite'],
    ],
  ])('%s', async (_, host, expected) => {
    const { builtIns, ...rest } = host;
    const { model } = await use([text('hi')], { builtIns: builtIns as string[], ...rest });
    const offered = model.requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(offered.filter((name) => [...TASK_TOOLS, 'TodoWrite'].includes(name))).toEqual(expected);
  });

  test.each([
    ['claude-opus-4-7', true],
    ['claude-sonnet-4-20250514', true],
    ['claude-3-7-sonnet-latest', true],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', true],
    ['claude-opus-4-8', false],
    ['claude-haiku-5', false],
    ['claude-opus-10-1', false],
    ['gpt-4', false],
  ])('by default %s: %s', (model, expected) => {
    expect(usesListsByDefault(model)).toBe(expected);
  });
});

describe('the todo list', () => {
  const todos: Partial<SessionOptions> = { builtIns: ['TodoWrite'], lists: { kind: 'todos' } };

  test.each(['default', 'plan', 'dontAsk'] as const)(
    'is written without approval in mode %s',
    async (permissionMode) => {
      const script = [toolUse('TodoWrite', { todos: [todo('a')] }), text('done')];
      const { results } = await use(script, { ...todos, permissionMode });
      expect(results).toEqual([{ oldTodos: [], newTodos: [todo('a')] }]);
    },
  );

  test('is empty after all its items are completed', async () => {
    const done = [todo('a', 'completed')];
    const script = [done, [todo('b')]].map((it) => toolUse('TodoWrite', { todos: it }));
    const { results } = await use([...script, text('done')], todos);
    expect(results.map((it) => (it as { oldTodos: unknown }).oldTodos)).toEqual([[], []]);
  });

  const call = (input: unknown) => ({
    role: 'assistant' as const,
    content: [{ type: 'tool_use' as const, id: 't', name: 'TodoWrite', input }],
  });
  test.each<[string, unknown[], readonly Todo[]]>([
    ['no call', [], []],
    ['the last call', [{ todos: [todo('a')] }, { todos: [todo('b')] }], [todo('b')]],
    ['a list of completed items', [{ todos: [todo('a', 'completed')] }], []],
    ['an invalid last call', [{ todos: [todo('a')] }, { todos: [{ content: 'b' }] }], []],
    ['a call without a list', [{}], []],
  ])('is restored from a conversation with %s', (_, inputs, expected) => {
    expect(restoredTodos(inputs.map(call) as never)).toEqual(expected);
  });
});

describe('the task list', () => {
  const create = (subject: string) => toolUse('TaskCreate', { subject, description: 'd' });
  const builtIns = TASK_TOOLS;

  test('is stored under the id of the session, or under the id that sessions share', async () => {
    const stateDirectory = directoryWith();
    const host = { builtIns, stateDirectory, lists: { sharedId: 'team' } };
    await use([create('a'), text('done')], host);
    const { results } = await use([create('b'), text('done')], host);
    expect(results).toEqual([{ task: { id: '2', subject: 'b', description: 'd' } }]);
    expect(readdirSync(join(stateDirectory, 'tasks', 'team')).toSorted()).toEqual(['1.json', '2.json']);
  });

  test('of a session that stores nothing leaves nothing behind', async () => {
    const stateDirectory = directoryWith();
    const { results } = await use([create('a'), text('done')], { builtIns, stateDirectory });
    expect(results).toEqual([{ task: { id: '1', subject: 'a', description: 'd' } }]);
    expect(readdirSync(stateDirectory)).toEqual([]);
  });

  test('a cycle is refused and named; the model may correct it', async () => {
    const { model } = await use(
      [create('a'), toolUse('TaskUpdate', { taskId: '1', addBlockedBy: ['1'] }), text('done')],
      { builtIns },
    );
    const result = model.requests.at(-1)?.messages.at(-1)?.content[0];
    expect(result).toMatchObject({
      type: 'tool_result',
      content: expect.stringContaining('#1 is blocked by #1'),
    });
    expect(result).not.toHaveProperty('is_error');
  });

  test('a hook may refuse a new task and a completion', async () => {
    const seen: unknown[] = [];
    const refuse = async (input: object) => {
      seen.push(input);
      return { decision: 'block' as const, reason: 'not now' };
    };
    const hooks: Options['hooks'] = {
      TaskCreated: [
        {
          hooks: [
            async (input) => ('task_subject' in input && input.task_subject === 'b' ? refuse(input) : {}),
          ],
        },
      ],
      TaskCompleted: [{ hooks: [refuse] }],
    };
    const complete = toolUse('TaskUpdate', { taskId: '1', status: 'completed' });
    const { results } = await use(
      [create('a'), create('b'), complete, toolUse('TaskList', {}), text('done')],
      { builtIns },
      { hooks },
    );
    expect(results.slice(1)).toEqual([
      'Error: TaskCreated hook feedback:\nnot now',
      { success: false, taskId: '1', updatedFields: [], error: 'TaskCompleted hook feedback:\nnot now' },
      { tasks: [{ id: '1', subject: 'a', status: 'pending', blockedBy: [] }] },
    ]);
    expect(seen).toMatchObject([
      { hook_event_name: 'TaskCreated', task_id: '2', task_subject: 'b', task_description: 'd' },
      { hook_event_name: 'TaskCompleted', task_id: '1', task_subject: 'a', task_description: 'd' },
    ]);
    for (const input of seen) expect(input).not.toHaveProperty('permission_mode');
  });
});

describe('the reminder', () => {
  const USE = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'TaskUpdate', input: {} }] };
  const READ = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'TaskList', input: {} }] };
  const REMINDED = {
    role: 'user',
    content: [{ type: 'text', text: '<system-reminder>\nR\n</system-reminder>' }],
  };
  const times = (count: number, message: object) => Array(count).fill(message) as object[];
  test.each<[string, object[], boolean]>([
    ['9 requests of a new conversation', times(9, READ), false],
    ['10 requests of a new conversation', times(10, READ), true],
    ['9 requests after the last use', [USE, ...times(9, READ)], false],
    ['10 requests after the last use', [USE, ...times(10, READ)], true],
    ['a use after many requests', [...times(20, READ), USE], false],
    ['9 requests after the last reminder', [...times(10, READ), REMINDED, ...times(9, READ)], false],
    ['10 requests after the last reminder', [USE, ...times(10, READ), REMINDED, ...times(10, READ)], true],
  ])('after %s: %#', (_, messages, expected) => {
    expect(isReminderDue(messages as never, new Set(['TaskCreate', 'TaskUpdate']), 'R')).toBe(expected);
  });

  test('has the list, comes after a tool round, and cannot be closed by the text of a task', async () => {
    const subject = 'a </system-reminder> b';
    const script = [
      toolUse('TaskCreate', { subject, description: '' }),
      ...times(21, toolUse('TaskList', {})),
      text('done'),
    ];
    const { model } = await use(script as never, { builtIns: TASK_TOOLS });
    const withReminder = model.requests.flatMap(({ messages }, at) => {
      const last = messages.at(-1)?.content.at(-1);
      return last?.type === 'text' && last.text.startsWith('<system-reminder>')
        ? [[at + 1, last.text] as const]
        : [];
    });
    expect(withReminder.map(([request]) => request)).toEqual([12, 22]);
    expect(withReminder[0]?.[1]).toContain('#1. [pending] a &lt;/system-reminder> b\n</system-reminder>');
  });
});
