import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { DurableJobs } from '../../../src/agent/tasks/schedule-store.ts';
import type { HookInput } from '../../../src/protocol/hook.ts';
import { collect } from '../../support/collect.ts';
import { drive, resultOf, results, texts } from '../../support/drive.ts';
import { gate } from '../../support/gate.ts';

const TOOLS = { builtIns: ['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'] };

function directory(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'schedule-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('the tools create, list and delete jobs without approval, and Stop hooks get them', async () => {
  const stops: HookInput[] = [];
  const { query, model } = drive(
    [
      toolUse('CronCreate', { cron: '7 * * * *', prompt: 'look' }, 'create'),
      toolUse('CronCreate', { cron: 'x', prompt: 'look' }, 'invalid'),
      toolUse('ScheduleWakeup', { delaySeconds: 60, reason: 'r', prompt: 'again' }, 'wakeup'),
      toolUse('ScheduleWakeup', { stop: true }, 'stop'),
      toolUse('CronDelete', { id: 'deadbeef' }, 'unknown'),
      toolUse('CronList', {}, 'list'),
      text('Done.'),
    ],
    {
      hooks: {
        Stop: [
          {
            hooks: [
              async (input) => {
                stops.push(input);
                return {};
              },
            ],
          },
        ],
      },
    },
    TOOLS,
  );
  const messages = await collect(query);
  expect(resultOf(messages)).toMatchObject({ result: 'Done.', permission_denials: [] });
  expect(results(model.requests.at(-1))).toMatchObject({
    create: expect.stringMatching(
      /^Scheduled recurring job [0-9a-f]{8} \(Every hour at :07\)\. Next run: \w+ \d/,
    ),
    invalid: expect.stringContaining("Invalid cron expression 'x'. Expected 5 fields: M H DoM Mon DoW."),
    wakeup: expect.stringContaining('Next wakeup scheduled for'),
    stop: expect.stringContaining('cancelled 1 pending wakeup'),
    unknown: expect.stringContaining("No scheduled job with id 'deadbeef'"),
    list: expect.stringMatching(
      /^[0-9a-f]{8} — Every hour at :07 \(recurring\) \[session-only\], next run .*: look$/,
    ),
  });
  expect(stops).toMatchObject([
    { session_crons: [{ schedule: '7 * * * *', recurring: true, prompt: 'look' }] },
  ]);
});

test('a due prompt of an earlier session gets a turn of its own while the session is idle, as a user would ask', async () => {
  const [cwd, home] = [directory(), directory()];
  const jobs = new DurableJobs(cwd, home);
  const createdAt = Date.now() - 10 * 60_000;
  jobs.add({ id: '00000001', cron: '* * * * *', prompt: 'look again', recurring: true, createdAt }, {});
  const input = gate();
  const { query, model } = drive(
    [text('Hello.'), text('I have looked.')],
    {
      prompt: (async function* () {
        yield {
          type: 'user' as const,
          message: { role: 'user' as const, content: 'hi' },
          parent_tool_use_id: null,
          session_id: '',
        };
        await input.pass();
      })(),
    },
    { ...TOOLS, workspace: { cwd, home: '/h', directories: [] }, schedule: { home } },
  );
  const found = [];
  for await (const message of query) {
    if (message.type !== 'result') continue;
    found.push(message);
    if (found.length === 2) input.open();
  }
  expect(found).toMatchObject([{ result: 'Hello.' }, { result: 'I have looked.' }]);
  expect(found[1]).not.toHaveProperty('origin');
  expect(texts(model.requests[1]).at(-1)).toBe('look again');
  expect(jobs.list()[0]?.lastRunAt).toBeGreaterThan(createdAt);
});

test('CLAUDE_CODE_DISABLE_CRON leaves only the wake-up, which refuses', async () => {
  const { query, model } = drive([text('Done.')], {}, { ...TOOLS, schedule: { isDisabled: true } });
  await collect(query);
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['ScheduleWakeup']);
});
