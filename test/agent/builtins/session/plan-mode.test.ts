import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { text, toolUse } from '../../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../../src/agent/session/session.ts';
import type { CanUseTool, Options } from '../../../../src/sdk/options/options.ts';
import { drive, untilResult } from '../../../support/drive.ts';
import { directoryWith } from '../built-in-world.ts';

const TOOLS = ['Read', 'Write', 'EnterPlanMode', 'ExitPlanMode'];
const PATH = /Plan file: (\S+)/;

/** Runs a conversation whose model writes the plan `# Plan` if `plan` is set, then asks for approval. */
async function planned(
  answer: CanUseTool,
  { plan = true, ...host }: Partial<SessionOptions> & { plan?: boolean } = {},
  options: Options = {},
) {
  const asked: unknown[] = [];
  let step = 0;
  const cwd = directoryWith();
  const { query, model } = drive(
    (request) => {
      const path = PATH.exec(JSON.stringify(request.messages))?.[1]?.replace(/\\n.*/, '') ?? '';
      const replies = [
        ...(plan ? [toolUse('Write', { file_path: path, content: '# Plan\n' })] : []),
        toolUse('ExitPlanMode', { plan: 'made up', other: 1 }),
        text('done'),
      ];
      return replies[step++] ?? text('done');
    },
    {
      canUseTool: async (tool, input, context) => {
        asked.push({ tool, input, isAlwaysAsked: context.suppressAlwaysAllowRule });
        return answer(tool, input, context);
      },
      ...options,
    },
    {
      builtIns: TOOLS,
      permissionMode: 'plan',
      workspace: { cwd, home: cwd, directories: [] },
      ...host,
    },
  );
  const messages = await untilResult(query);
  const last = messages.findLast((it) => it.type === 'user');
  const result = messages.findLast((it) => it.type === 'result');
  const modes = messages.flatMap((it) =>
    it.type === 'system' && it.subtype === 'status' ? [it.permissionMode] : [],
  );
  const shown = messages.flatMap((it) =>
    it.type === 'assistant'
      ? it.message.content.flatMap((block) =>
          block.type === 'tool_use' && block.name === 'ExitPlanMode' ? [block.input] : [],
        )
      : [],
  );
  const path = PATH.exec(JSON.stringify(model.requests[0]?.messages))?.[1]?.replace(/\\n.*/, '') ?? '';
  return {
    asked,
    modes,
    shown,
    path,
    model,
    content: contentOf(last),
    result: last?.tool_use_result,
    denials: result?.permission_denials,
  };
}

function contentOf(message: unknown): string {
  return String(
    (message as { message?: { content?: { content?: unknown }[] } })?.message?.content?.[0]?.content,
  );
}

const allow: CanUseTool = async (_, updatedInput) => ({ behavior: 'allow', updatedInput });

describe('a plan that the user approves', () => {
  test('is read from the plan file, which is written without approval, and the mode before plan mode returns', async () => {
    const { asked, modes, shown, path, content, result } = await planned(allow);
    const input = { plan: '# Plan\n', planFilePath: path };
    expect(asked).toEqual([{ tool: 'ExitPlanMode', input, isAlwaysAsked: true }]);
    expect(shown).toEqual([input]);
    expect(modes).toEqual(['default']);
    expect(result).toEqual({ plan: '# Plan\n', isAgent: false, filePath: path });
    expect(content).toContain(`${path}\n\n## Approved Plan:\n# Plan\n`);
  });

  test('may be edited', async () => {
    const { result, content } = await planned(async (_, input) => ({
      behavior: 'allow',
      updatedInput: { ...input, plan: '# Better' },
    }));
    expect(result).toMatchObject({ plan: '# Better', planWasEdited: true });
    expect(content).toContain('(edited by user):\n# Better');
  });

  test('may come with another mode', async () => {
    const { modes } = await planned(async () => ({
      behavior: 'allow',
      updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
    }));
    expect(modes).toEqual(['acceptEdits']);
  });

  test('is approved in spite of an allow rule only by a person', async () => {
    const rules = [{ tool: 'ExitPlanMode', effect: 'allow', source: 'cliArg' } as const];
    const { asked } = await planned(allow, { rules });
    expect(asked).toHaveLength(1);
  });

  test('need not exist', async () => {
    const { asked, result, content } = await planned(allow, { plan: false });
    expect(asked).toMatchObject([{ input: {} }]);
    expect(result).toMatchObject({ plan: null });
    expect(content).toMatch(/^User has approved exiting plan mode/);
  });
});

test('a plan that is denied leaves the mode, and the denial has the plan', async () => {
  const { modes, content, denials, path } = await planned(async () => ({ behavior: 'deny', message: 'no' }));
  expect([modes, content]).toEqual([[], 'no']);
  expect(denials).toMatchObject([
    { tool_name: 'ExitPlanMode', tool_input: { plan: '# Plan\n', planFilePath: path } },
  ]);
});

test('outside of plan mode the user is not asked', async () => {
  const { asked, result } = await planned(allow, { permissionMode: 'default', plan: false });
  expect(asked).toEqual([]);
  expect(result).toMatch(/Plan mode is not active/);
});

test('other files are not written in plan mode', async () => {
  const cwd = directoryWith();
  const { query } = drive(
    [toolUse('Write', { file_path: join(cwd, 'a.txt'), content: 'x' }), text('done')],
    { canUseTool: allow },
    { builtIns: TOOLS, permissionMode: 'plan', workspace: { cwd, home: cwd, directories: [] } },
  );
  await untilResult(query);
  expect(() => readFileSync(join(cwd, 'a.txt'))).toThrow('ENOENT');
});

test('a model enters plan mode without approval, and leaves it for the mode before', async () => {
  const { query, model } = drive(
    [toolUse('EnterPlanMode', { why: 'unknown members pass' }), toolUse('ExitPlanMode', {}), text('done')],
    { canUseTool: allow },
    { builtIns: TOOLS, permissionMode: 'acceptEdits' },
  );
  const messages = await untilResult(query);
  expect(
    messages.flatMap((it) => (it.type === 'system' && it.subtype === 'status' ? [it.permissionMode] : [])),
  ).toEqual(['plan', 'acceptEdits']);
  const reminders = model.requests.map(({ messages: sent }) => JSON.stringify(sent.at(-1)));
  expect(reminders.map((it) => /Plan mode is (active:|over)/.exec(it)?.[1])).toEqual([
    undefined,
    'active:',
    'over',
  ]);
  expect(messages.filter((it) => JSON.stringify(it).includes('<system-reminder>'))).toEqual([]);
});

test('planModeInstructions replace the phases of the reminder', async () => {
  const { model } = await planned(allow, {}, { planModeInstructions: 'Ask Ann first.' });
  const reminder = JSON.stringify(model.requests[0]?.messages);
  expect(reminder).toContain('Ask Ann first.');
  expect(reminder).not.toContain('1. Understand');
});

test('the plan file of a session that stores nothing is in a temporary directory', async () => {
  const { path } = await planned(allow);
  expect(dirname(path)).toMatch(/toolplane-state-\w+\/plans$/);
});

test.each([
  [true, ['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode']],
  [false, []],
])('a session is offered the tools if a person answers: %s', async (asksProgram, expected) => {
  const names = ['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode'];
  const { query, model } = drive([text('hi')], {}, { builtIns: names, asksProgram });
  await untilResult(query);
  expect(model.requests[0]?.tools.map(({ name }) => name) ?? []).toEqual(expected);
});
