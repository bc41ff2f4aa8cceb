import type { CronListOutput } from '../../../protocol/tools/task-tools.ts';
import { failedOutcome, type ToolOutcome, toolUseError } from '../../loop/run-calls.ts';
import type { ListedJob } from '../../tasks/schedule.ts';
import { humanSchedule, shortTime } from '../../tasks/schedule-time.ts';
import { defineBuiltIn } from '../built-in.ts';

/** Schedules a prompt. */
export const CRON_CREATE = defineBuiltIn({
  name: 'CronCreate',
  description:
    'Schedules a prompt that is sent to you later, at each time that matches a cron expression in local time, or once. It ' +
    'is sent only while the session is open and you are idle. Avoid full and half hours unless the user names such a ' +
    'time, because many jobs run then. Recurring jobs end after 7 days; tell the user so.',
  annotations: { title: 'Schedule a prompt', readOnlyHint: false, destructiveHint: false },
  required: {
    cron: {
      type: 'string',
      description:
        'Five fields: minute, hour, day of the month, month, day of the week. "*/5 * * * *": every 5 minutes.',
    },
    prompt: { type: 'string', description: 'The prompt to send.' },
  },
  optional: {
    recurring: {
      type: 'boolean',
      description: 'true (default): at each match. false: once, at the next match; for reminders.',
    },
    durable: {
      type: 'boolean',
      description:
        'true: kept in .claude/scheduled_tasks.json for later sessions; only if the user asks for that. false (default): only in this session, also after it is resumed.',
    },
    timezone: {
      type: 'string',
      description: 'The IANA time zone of the expression, such as Europe/Berlin; by default local time.',
    },
  },
  approval: 'never',
  async run({ cron, prompt, recurring = true, durable = false, timezone }, { services }) {
    if (!services.schedule) return failedOutcome('CronCreate is not available in this session');
    const job = services.schedule.create({ cron, prompt, recurring, durable, timezone });
    if ('fault' in job) return toolUseError(job.fault);
    const words = humanSchedule(cron);
    const { id, isDurable, nextFireAt } = job;
    const next = nextFireAt === undefined ? '' : ` Next run: ${shortTime(nextFireAt, timezone)}.`;
    const kept = isDurable
      ? 'Persisted to .claude/scheduled_tasks.json.'
      : 'Session-only (runs only in this session, also after it is resumed).';
    const end = recurring
      ? 'Auto-expires after 7 days. Use CronDelete to cancel sooner.'
      : 'It will fire once then auto-delete.';
    const kind = recurring ? 'recurring job' : 'one-shot task';
    return {
      content: `Scheduled ${kind} ${id} (${words}).${next} ${kept} ${end}`,
      isError: false,
      programResult: {
        ...{ id, humanSchedule: words, recurring, durable: isDurable },
        ...(nextFireAt !== undefined && { nextFireAt }),
      },
    };
  },
});

/** Lists the scheduled prompts. */
export const CRON_LIST = defineBuiltIn({
  name: 'CronList',
  description: 'Lists the scheduled prompts of this session and the durable ones of the project.',
  annotations: { title: 'List scheduled prompts', readOnlyHint: true },
  required: {},
  optional: {},
  async run(_, { services }) {
    if (!services.schedule) return failedOutcome('CronList is not available in this session');
    const listed = services.schedule.list();
    const jobs = programJobs(listed);
    const lines = listed.map(({ id, recurring, isDurable, nextFireAt, prompt, timezone }, at) => {
      const kind = `${recurring ? 'recurring' : 'one-shot'})${isDurable ? '' : ' [session-only]'}`;
      const next = nextFireAt === undefined ? '' : `, next run ${shortTime(nextFireAt, timezone)}`;
      return `${id} — ${jobs[at]?.humanSchedule} (${kind}${next}: ${prompt}`;
    });
    return { content: lines.join('\n') || 'No scheduled jobs.', isError: false, programResult: { jobs } };
  },
});

/** Cancels a scheduled prompt. */
export const CRON_DELETE = defineBuiltIn({
  name: 'CronDelete',
  description: 'Cancels a scheduled prompt.',
  annotations: { title: 'Cancel a scheduled prompt', readOnlyHint: false, destructiveHint: false },
  required: { id: { type: 'string', description: 'The id that CronCreate returned.' } },
  optional: {},
  approval: 'never',
  async run({ id }, { services }) {
    if (!services.schedule) return failedOutcome('CronDelete is not available in this session');
    const removed = services.schedule.remove(id);
    if (!removed) return toolUseError(`No scheduled job with id '${id}'`);
    const programResult = { id, ...(removed.isWakeup && { endedLoopWakeup: true }) };
    return { content: `Cancelled job ${id}.`, isError: false, programResult };
  },
});

/** Sends the agent a prompt after a delay, which it chooses anew each time. */
export const SCHEDULE_WAKEUP = defineBuiltIn({
  name: 'ScheduleWakeup',
  description:
    'Schedules the next step of work that you repeat at intervals that you choose: the prompt is sent to you after the ' +
    'delay, in place of an earlier wake-up. End the turn after the call. With stop: true no further wake-up follows.',
  annotations: { title: 'Schedule a wake-up', readOnlyHint: false, destructiveHint: false },
  required: {},
  optional: {
    delaySeconds: {
      type: 'number',
      description: 'Seconds from now, from 60 to 3600. Required unless stop is true.',
    },
    reason: {
      type: 'string',
      description: 'Why this delay, in a sentence for the user. Required unless stop is true.',
    },
    prompt: { type: 'string', description: 'The prompt to send. Required unless stop is true.' },
    noop: { type: 'boolean', description: 'true: nothing has changed since the last wake-up.' },
    stop: { type: 'boolean', description: 'true: cancels the wake-up; the other parameters are ignored.' },
  },
  approval: 'never',
  async run({ delaySeconds, reason, prompt, stop = false }, { services }) {
    if (!services.schedule) return failedOutcome('ScheduleWakeup is not available in this session');
    if (stop) return stopped(services.schedule.stopWakeUps());
    if (delaySeconds === undefined || reason === undefined)
      return failedOutcome('`delaySeconds` and `reason` are required when `stop` is not true.');
    if (prompt === undefined) return failedOutcome('`prompt` is required when `stop` is not true.');
    const set = services.schedule.wakeUp(delaySeconds, prompt);
    const at = new Date(set.scheduledFor);
    const time = [at.getHours(), at.getMinutes(), 0].map((it) => String(it).padStart(2, '0')).join(':');
    const wait = Math.round((set.scheduledFor - Date.now()) / 1000);
    const clamped = set.wasClamped
      ? ` (clamped to ${set.clampedDelaySeconds}s from your requested value)`
      : '';
    return {
      content: `Next wakeup scheduled for ${time} (in ${wait}s)${clamped}. Write what the user should know now, then end the turn; the prompt follows at that time.`,
      isError: false,
      programResult: set,
    };
  },
});

function stopped(count: number): ToolOutcome {
  const what =
    count > 0
      ? `Loop stopped — cancelled ${count} pending wakeup(s).`
      : 'Loop stopped — there was no pending wakeup to cancel. Recurring jobs continue: cancel them with CronDelete.';
  return {
    content: `${what} Tell the user the outcome, then end the turn.`,
    isError: false,
    programResult: {
      ...{ scheduledFor: 0, clampedDelaySeconds: 0, wasClamped: false },
      ...{ stopped: true, cancelledWakeups: count },
    },
  };
}

/** The jobs as programs get them. */
function programJobs(jobs: readonly ListedJob[]): CronListOutput['jobs'] {
  return jobs.map(({ id, cron, prompt, recurring, isDurable, nextFireAt }) => ({
    ...{ id, cron, humanSchedule: humanSchedule(cron), prompt },
    ...(recurring && { recurring }),
    ...(!isDurable && { durable: false }),
    ...(nextFireAt !== undefined && { nextFireAt }),
  }));
}
