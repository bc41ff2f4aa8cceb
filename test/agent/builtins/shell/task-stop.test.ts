import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BASH } from '../../../../src/agent/builtins/shell/bash.ts';
import { TASK_STOP } from '../../../../src/agent/builtins/shell/task-stop.ts';
import { call, failed } from '../built-in-world.ts';
import { backgroundSession } from './background-session.ts';

describe('TaskStop', () => {
  test.each([['task_id'], ['shell_id']])('ends a command with its processes: %s', async (member) => {
    const { context, tasks, emitted } = backgroundSession();
    const { cwd } = context.workspace;
    const command = 'sleep 300 & echo $! > child; wait';
    await call(BASH, { command, description: 'wait long', run_in_background: true }, context);
    const [{ id } = { id: '' }] = tasks.running;
    while (!existsSync(`${cwd}/child`)) await new Promise(setImmediate);
    const outcome = await call(TASK_STOP, { [member]: id }, context);
    const result = {
      message: `Successfully stopped task: ${id} (${command})`,
      task_id: id,
      task_type: 'local_bash',
      command,
    };
    expect(outcome).toEqual({ content: JSON.stringify(result), isError: false, programResult: result });
    expect(emitted.find(({ subtype }) => subtype === 'task_notification')).toMatchObject({
      status: 'stopped',
    });
    // The model stopped the command, so the model is not notified of its end.
    expect(tasks.take('idle')).toBeUndefined();
  });

  test.each([
    [{ task_id: 'nope' }, 'No task found with ID: nope'],
    [{}, 'Missing required parameter: task_id'],
  ])('%j is an error', async (input, text) => {
    expect(await call(TASK_STOP, input, backgroundSession().context)).toEqual(
      failed(`<tool_use_error>${text}</tool_use_error>`),
    );
  });
});
