import type { TaskStopOutput } from '../../../protocol/tools/task-tools.ts';
import { toolUseError } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';

/** Ends a command, monitor or sub-agent that runs in the background. */
export const TASK_STOP = defineBuiltIn({
  name: 'TaskStop',
  description:
    'Ends work that runs in the background: a command, a monitor or a sub-agent, with all processes it started.',
  annotations: { title: 'Stop background work', readOnlyHint: false, destructiveHint: true },
  required: {},
  optional: {
    task_id: { type: 'string', description: 'The id of the work, or the name of a sub-agent.' },
    shell_id: { type: 'string', description: 'The former name of task_id.' },
  },
  approval: 'never',
  concurrency: 'others',
  async run({ task_id, shell_id }, { tasks, services }) {
    const given = task_id || shell_id;
    if (!given) return toolUseError('Missing required parameter: task_id');
    const id = tasks.find(given) ? given : (services.agents?.idOf(given) ?? given);
    const task = tasks.find(id);
    if (!task) return toolUseError(`No task found with ID: ${given}`);
    const { type, description, summary } = task;
    const command = typeof summary?.command === 'string' ? summary.command : undefined;
    await tasks.stop(id, 'model');
    const programResult: TaskStopOutput = {
      message: `Successfully stopped task: ${id} (${command ?? description})`,
      task_id: id,
      task_type: type,
      ...(command !== undefined && { command }),
    };
    return { content: JSON.stringify(programResult), isError: false, programResult };
  },
});
