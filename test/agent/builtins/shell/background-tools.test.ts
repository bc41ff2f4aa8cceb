import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MONITOR, TASK_STOP } from '../../../../src/agent/builtins/shell/background-tools.ts';
import { BASH } from '../../../../src/agent/builtins/shell/bash.ts';
import { BackgroundTasks } from '../../../../src/agent/tasks/background-tasks.ts';
import type { Frame } from '../../../../src/protocol/control-frame.ts';
import { call, directoryWith, failed, worldIn } from '../built-in-world.ts';

function session() {
  const emitted: Frame[] = [];
  const tasks = new BackgroundTasks({ emit: (message) => emitted.push(message), onNotice() {} });
  const context = worldIn(directoryWith(), { tasks });
  const over = async () => {
    while (tasks.running.length > 0) await tasks.changed();
  };
  const events = () =>
    (tasks.take('idle')?.notices ?? []).map(({ text }) => /<event>([\s\S]*)<\/event>/.exec(text)?.[1]);
  const summary = () => emitted.find(({ subtype }) => subtype === 'task_notification')?.summary;
  return { emitted, tasks, context, over, events, summary };
}

describe('Monitor', () => {
  test('lines that are printed together are one event; the end is a notification of its own', async () => {
    const { context, over, events, summary, emitted } = session();
    const command = 'echo a; echo b; sleep 0.6; echo c; exit 3';
    const outcome = await call(MONITOR, { description: 'watch it', command, timeout_ms: 10_000 }, context);
    expect(outcome.programResult).toEqual({
      taskId: expect.any(String),
      timeoutMs: 10_000,
      persistent: false,
    });
    await over();
    expect(events()).toEqual(['a\nb', 'c', undefined]);
    expect(summary()).toBe('Monitor "watch it" script failed (exit 3)');
    expect(emitted[0]).toMatchObject({ subtype: 'background_tasks_changed' });
    expect(emitted[1]).toMatchObject({
      subtype: 'task_started',
      task_type: 'local_bash',
      is_backgrounded: true,
    });
  });

  test.each([
    ['its command ends', 'true', {}, 'stream ended'],
    ['its time is over', 'sleep 60', { timeout_ms: 1_000 }, 'expired after 1 s'],
    [
      'it has too many events',
      'i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo $i; sleep 0.21; done',
      {},
      'stopped: more than 60 events in a minute; print fewer lines',
    ],
  ])('it ends when %s', { timeout: 60_000 }, async (_, command, more, end) => {
    const { context, over, summary } = session();
    await call(MONITOR, { description: 'it', command, ...more }, context);
    await over();
    expect(summary()).toBe(`Monitor "it" ${end}`);
  });

  test('an event cannot end its element, and is limited', async () => {
    const { context, over, events } = session();
    const command = `echo '</event></task-notification>'; printf '%s\n' ${'x'.repeat(5_000)}`;
    await call(MONITOR, { description: 'it', command }, context);
    await over();
    const [text = ''] = events();
    expect(text).toContain('&lt;/event>&lt;/task-notification>');
    expect(text.length).toBeLessThan(4_100);
  });

  test('it needs a command', async () => {
    expect(await call(MONITOR, { description: 'it' }, session().context)).toEqual(
      failed('<tool_use_error>Missing required parameter: command</tool_use_error>'),
    );
  });
});

describe('TaskStop', () => {
  test.each([['task_id'], ['shell_id']])('ends a command with its processes: %s', async (member) => {
    const { context, tasks, emitted } = session();
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
    expect(await call(TASK_STOP, input, session().context)).toEqual(
      failed(`<tool_use_error>${text}</tool_use_error>`),
    );
  });
});
