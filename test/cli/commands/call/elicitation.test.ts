import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { answerElicitation } from '../../../../src/cli/commands/call/call.ts';

const PARAMS = {
  message: 'Which city?',
  requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Answers requests on fake streams; `events` records pauses of the spinner and reported lines. */
function openAnswer(isTTY: boolean) {
  const events: string[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const pause = () => {
    events.push('pause');
    return { [Symbol.dispose]: () => void events.push('resume') };
  };
  const place = { output: { report: (line: string) => void events.push(line) }, spinner: { pause } };
  type Args = Parameters<typeof answerElicitation>;
  const answer = answerElicitation(place as unknown as Args[0], { stdin, stderr } as unknown as Args[1]);
  const { signal } = new AbortController();
  const ask = (server: string, given = signal) =>
    answer(PARAMS as never, { server, signal: given } as never) as Promise<unknown>;
  return { ask, stdin, stderr, events };
}

test('asks on the terminal while the spinner is hidden', async () => {
  const { ask, stdin, stderr, events } = openAnswer(true);
  const asking = ask('maps');
  stdin.write('Rome\n');
  expect(await asking).toEqual({ action: 'accept', content: { city: 'Rome' } });
  expect(events).toEqual(['pause', 'resume']);
  expect(String(stderr.read())).toMatch(
    /Server maps requests input: Which city\?[\s\S]*city \(string; required\): $/,
  );
});

test('/mute declines this request and all further ones of the server', async () => {
  const { ask, stdin } = openAnswer(true);
  const asking = ask('maps');
  stdin.write('/mute\n');
  expect(await asking).toEqual({ action: 'decline' });
  expect(await ask('maps')).toEqual({ action: 'decline' });
});

test('a withdrawn request is cancelled', async () => {
  const { ask } = openAnswer(true);
  const withdrawn = new AbortController();
  const asking = ask('maps', withdrawn.signal);
  setImmediate(() => withdrawn.abort());
  expect(await asking).toEqual({ action: 'cancel' });
});

test('without a terminal declines and reports each server once', async () => {
  const { ask, events } = openAnswer(false);
  expect(await ask('maps')).toEqual({ action: 'decline' });
  expect(await ask('maps')).toEqual({ action: 'decline' });
  expect(events).toEqual([
    'server maps: input request declined because stdin and stderr are not a terminal; message: Which city?',
  ]);
});
