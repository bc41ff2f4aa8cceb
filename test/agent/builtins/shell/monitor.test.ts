import { realpathSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MONITOR } from '../../../../src/agent/builtins/shell/monitor.ts';
import { call, directoryWith, failed } from '../built-in-world.ts';
import { backgroundSession } from './background-session.ts';

describe('Monitor', () => {
  test('lines that are printed together are one event; the end is a notification of its own', async () => {
    const { context, over, events, summary, emitted } = backgroundSession();
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
    const { context, over, summary } = backgroundSession();
    await call(MONITOR, { description: 'it', command, ...more }, context);
    await over();
    expect(summary()).toBe(`Monitor "it" ${end}`);
  });

  test('an event cannot end its element, and is limited', async () => {
    const { context, over, events } = backgroundSession();
    const command = `echo '</event></task-notification>'; printf '%s\n' ${'x'.repeat(5_000)}`;
    await call(MONITOR, { description: 'it', command }, context);
    await over();
    const [text = ''] = events();
    expect(text).toContain('&lt;/event>&lt;/task-notification>');
    expect(text.length).toBeLessThan(4_100);
  });

  test('it runs in the current directory of the session', async () => {
    const { context, over, events } = backgroundSession();
    const current = directoryWith();
    const moved = { ...context, workspace: { ...context.workspace, directory: current } };
    await call(MONITOR, { description: 'it', command: 'pwd -P' }, moved);
    await over();
    expect(events()).toEqual([realpathSync(current), undefined]);
  });

  test('it needs a command', async () => {
    expect(await call(MONITOR, { description: 'it' }, backgroundSession().context)).toEqual(
      failed('<tool_use_error>Missing required parameter: command</tool_use_error>'),
    );
  });
});
