import type { Message } from './program.ts';

/** What programs know of a message about background work; undefined for other messages. Ids become their order. */
export function taskMessages(): (message: Message) => unknown {
  const ids: string[] = [];
  const numberOf = (id: unknown) => {
    if (typeof id !== 'string') return undefined;
    if (!ids.includes(id)) ids.push(id);
    return `task ${ids.indexOf(id) + 1}`;
  };
  const textOf = (value: unknown) =>
    typeof value === 'string'
      ? ids.reduce((text, id, at) => text.replaceAll(id, `task ${at + 1}`), value)
      : value;
  return (message) => {
    const fields = message as unknown as Record<string, unknown>;
    switch (fields.type === 'system' ? fields.subtype : fields.type) {
      case 'task_started':
        return [
          'started',
          numberOf(fields.task_id),
          fields.task_type,
          fields.description,
          fields.is_backgrounded,
        ];
      case 'task_updated': {
        const { end_time, ...patch } = fields.patch as Record<string, unknown>;
        return ['updated', numberOf(fields.task_id), patch, typeof end_time];
      }
      case 'task_notification':
        return ['notification', numberOf(fields.task_id), fields.status, textOf(fields.summary)];
      case 'background_tasks_changed':
        return ['changed', (fields.tasks as { task_id: string }[]).map((task) => numberOf(task.task_id))];
      case 'result':
        return ['result', fields.result, (fields.origin as { kind?: string } | undefined)?.kind];
      default:
        return undefined;
    }
  };
}
