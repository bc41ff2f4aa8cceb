import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Mailbox, type TeamMessage } from '../../../src/agent/teams/mailbox.ts';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'mailbox-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const message = (id: string, text = id): TeamMessage => ({ id, from: 'ada', kind: 'message', text });

const idsOf = (messages: readonly TeamMessage[]) => messages.map(({ id }) => id);

test('messages are given out in order, and again by another mailbox until they are acknowledged', () => {
  const path = directory();
  const mailbox = new Mailbox(path);
  for (const id of ['a', 'b', 'c']) expect(mailbox.send(message(id))).toBe('sent');
  expect(mailbox.hasMessages).toBe(true);
  expect(mailbox.take()).toEqual([message('a'), message('b'), message('c')]);
  expect(mailbox.take()).toEqual([]);
  expect(mailbox.hasMessages).toBe(false);
  mailbox.acknowledge(['a']);
  mailbox.giveBack(['b']);
  expect(idsOf(mailbox.take())).toEqual(['b']);
  // As after a crash: the messages were not acknowledged.
  expect(idsOf(new Mailbox(path).take())).toEqual(['b', 'c']);
});

test('a message that is sent again is not given out again, also after it was acknowledged', () => {
  const mailbox = new Mailbox(directory());
  expect(mailbox.send(message('a'))).toBe('sent');
  expect(mailbox.send(message('a', 'other'))).toBe('known');
  expect(mailbox.take()).toEqual([message('a')]);
  mailbox.acknowledge(['a']);
  expect(mailbox.send(message('a'))).toBe('known');
  expect(mailbox.take()).toEqual([]);
});

test('large messages and full mailboxes are refused', () => {
  const path = directory();
  const mailbox = new Mailbox(path);
  expect(mailbox.send(message('a', 'x'.repeat(300_000)))).toBe('too-large');
  mkdirSync(join(path, 'new'), { recursive: true });
  for (let at = 1; at <= 1_000; at++) {
    const name = `${String(at).padStart(9, '0')}-${String(at).padStart(32, '0')}.json`;
    writeFileSync(join(path, 'new', name), JSON.stringify(message(`m${at}`)));
  }
  expect(mailbox.send(message('a'))).toBe('full');
});

test.each(['', '{', '[]', '{"id":"a"}', '{"id":"a","from":"b","kind":"order","text":"c"}'])(
  'the file %j is no message',
  (content) => {
    const path = directory();
    mkdirSync(join(path, 'new'), { recursive: true });
    writeFileSync(join(path, 'new', `000000001-${'0'.repeat(32)}.json`), content);
    const mailbox = new Mailbox(path);
    mailbox.send(message('a'));
    expect(mailbox.take()).toEqual([message('a')]);
  },
);

test('of messages that several processes send, each arrives once, and none is lost', async () => {
  const path = directory();
  const module = JSON.stringify(new URL('../../../src/agent/teams/mailbox.ts', import.meta.url).href);
  // Each process sends the messages of its own, and one that all of them send.
  const code = `import { Mailbox } from ${module};
    const mailbox = new Mailbox(${JSON.stringify(path)});
    const send = (id) => mailbox.send({ id, from: 'x', kind: 'message', text: id });
    for (let at = 0; at < 25; at++) { send(process.argv[1] + '-' + at); send('all-' + at); }`;
  const senders = ['p', 'q', 'r', 's'].map((name) =>
    spawn(process.execPath, ['--input-type=module', '--eval', code, name], { stdio: 'inherit' }),
  );
  const codes = await Promise.all(senders.map(async (sender) => (await once(sender, 'exit'))[0]));
  expect(codes).toEqual([0, 0, 0, 0]);
  const numbers = Array.from({ length: 25 }, (_, at) => at);
  const expected = ['p', 'q', 'r', 's', 'all'].flatMap((name) => numbers.map((at) => `${name}-${at}`));
  const taken = idsOf(new Mailbox(path).take());
  expect(taken.toSorted()).toEqual(expected.toSorted());
  // Those of one sender are in order.
  expect(taken.filter((id) => id.startsWith('p-'))).toEqual(numbers.map((at) => `p-${at}`));
  expect(readdirSync(path).toSorted()).toEqual(['new', 'read']);
});
