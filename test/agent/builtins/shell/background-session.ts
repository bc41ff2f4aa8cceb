import { BackgroundTasks } from '../../../../src/agent/tasks/background-tasks.ts';
import type { Frame } from '../../../../src/protocol/control-frame.ts';
import { directoryWith, worldIn } from '../built-in-world.ts';

/** A session with background tasks, and what it reports of them to the program and to the model. */
export function backgroundSession() {
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
