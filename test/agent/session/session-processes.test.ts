import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { allow, raw, results } from '../../support/drive.ts';
import { lifeline } from '../../support/lifeline.ts';

const BASH = {
  builtIns: ['Bash'],
  rules: allow('Bash'),
  workspace: { cwd: tmpdir(), home: tmpdir(), directories: [] },
};
const user = (content: string) => ({ type: 'user', message: { role: 'user', content } });

test('a command that is interrupted tells the model what it had printed; the interrupt is answered at once', async () => {
  const { hold, started, ended } = lifeline();
  const stubborn = `echo half of it; trap "" TERM; ${hold} while :; do sleep 0.05; done`;
  const { send, ask, result, model } = raw(
    [toolUse('Bash', { command: stubborn }, 't1'), text('second')],
    BASH,
  );
  await send(user('one'));
  await started;
  const order: string[] = [];
  void ended.then(() => order.push('ended'));
  await ask('interrupt').then(() => order.push('answered'));
  expect(await result(1)).toMatchObject({ subtype: 'error_during_execution' });
  await ended;
  expect(order).toEqual(['answered', 'ended']);
  await send(user('two'));
  expect(await result(2)).toMatchObject({ result: 'second' });
  expect(results(model.requests[1])).toEqual({
    t1: '!half of it\nInterrupted; it was ended with all it had started',
  });
});

test('what commands left running ends with the session, before it is done', async () => {
  const [open, quiet] = [lifeline(), lifeline()];
  const command = `(${open.hold} sleep 600) & (${quiet.hold} sleep 600) > /dev/null 2>&1 &`;
  const { send, result, session } = raw([toolUse('Bash', { command }, 't1'), text('ok')], BASH);
  await send(user('one'));
  expect(await result(1)).toMatchObject({ result: 'ok' });
  await Promise.all([open.started, quiet.started]);
  session.end();
  await session.done;
  await Promise.all([open.ended, quiet.ended]);
});
