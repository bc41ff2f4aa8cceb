import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const create = (cron: string, more: object = {}) =>
  toolUse('CronCreate', { cron, prompt: `at ${cron}`, ...more });

const CALLS = [
  toolUse('CronList', {}),
  create('* * * * *'),
  create('0 9 * * 1-5'),
  create('7 * * * *'),
  create('0 */2 * * *'),
  create('15 10 * * 0'),
  create('0 0 * * 7'),
  create('13 9,17 * * 1,3'),
  create('31 14 27 6 *', { recurring: false }),
  create('0 3 * * *', { durable: true }),
  create('hello'),
  create('60 * * * *'),
  create('0 9 * JAN MON'),
  create('0 0 30 2 *'),
  toolUse('CronList', {}),
  toolUse('CronDelete', { id: 'deadbeef' }),
  toolUse('ScheduleWakeup', { reason: 'r' }),
  toolUse('ScheduleWakeup', { delaySeconds: 5, reason: 'r', prompt: 'a' }),
  toolUse('ScheduleWakeup', { delaySeconds: 5000, reason: 'r', prompt: 'b' }),
  toolUse('ScheduleWakeup', { delaySeconds: 120.5, reason: 'r', prompt: 'c', noop: true }),
  toolUse('ScheduleWakeup', { stop: true }),
  toolUse('ScheduleWakeup', { stop: true }),
];

/** The id of the first job. */
const firstId = ({ messages }: MessagesRequest) =>
  /recurring job ([0-9a-f]{8})/.exec(JSON.stringify(messages))?.[1];

export const script = (request: MessagesRequest, n: number) => {
  if (n === CALLS.length + 1) return toolUse('CronDelete', { id: firstId(request) });
  return CALLS[n - 1] ?? text('Done.');
};

/** Scheduled prompts: the results of the tools, what Stop hooks get, and the file of durable jobs. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  const query = sdk.query({
    prompt: 'Schedule.',
    options: {
      ...options(sandbox),
      tools: ['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'],
      canUseTool: async (name, input) => {
        seen.push({ asked: name });
        return { behavior: 'allow', updatedInput: input };
      },
      hooks: {
        Stop: [
          {
            hooks: [
              async (input) => {
                seen.push((input as { session_crons?: unknown }).session_crons);
                return {};
              },
            ],
          },
        ],
      },
    },
  });
  for await (const message of query) {
    if (message.type !== 'user' || typeof message.message.content === 'string') continue;
    const [block] = message.message.content;
    if (block?.type !== 'tool_result') continue;
    const isWakeup = JSON.stringify(message.tool_use_result).includes('wasClamped');
    seen.push({
      content: isWakeup ? '' : block.content,
      is_error: block.is_error,
      result: message.tool_use_result,
    });
  }
  const { tasks } = JSON.parse(readFileSync(join(sandbox.cwd, '.claude/scheduled_tasks.json'), 'utf8'));
  const [{ id, cron, prompt, recurring, createdAt }] = tasks;
  const file = { id, cron, prompt, recurring, createdAt: typeof createdAt };
  // Ids are random, and times depend on them.
  return JSON.parse(
    JSON.stringify({ seen, file })
      .replaceAll(/(?<![0-9a-f])(?!deadbeef)[0-9a-f]{8}(?![0-9a-f])/g, '<id>')
      .replaceAll(/"(nextFireAt|scheduledFor)":[\d.]+/g, '"$1":"<time>"')
      .replaceAll(/([Nn]ext run:?) \w+ \d+ \d+:\d\d[ap]m/g, '$1 <time>'),
  );
}
