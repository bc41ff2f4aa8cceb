import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { INBOX_LIMITS, Inbox, type InboxLimits, type NewMessage } from '../../src/channels/inbox.ts';
import { isLocked, storageFault } from '../../src/channels/inbox-error.ts';

const A = { project: '/p', conversation: 'a' };
const B = { project: '/p', conversation: 'b' };

function message(content: string, more: Partial<NewMessage> = {}): NewMessage {
  return { source: 's', content, meta: {}, state: 'pending', ...more };
}

async function opened(
  limits: Partial<InboxLimits> = {},
  directory = mkdtempSync(join(tmpdir(), 'inbox-')),
  now = Date.now,
) {
  const inbox = await Inbox.open(directory, { limits: { ...INBOX_LIMITS, ...limits }, now });
  onTestFinished(() => inbox[Symbol.dispose]());
  return { inbox, directory };
}

const contents = (inbox: Inbox, owner = A, sources = ['s']) =>
  inbox.pending(owner, sources, 0, 1_000).map(({ content }) => content);

describe('the inbox', () => {
  test('keeps messages in order until they are delivered', async () => {
    const { inbox } = await opened();
    inbox.enter(A);
    inbox.admit(A, [message('1'), message('2', { id: 'x' }), message('3', { source: 't' })]);
    expect(contents(inbox)).toEqual(['1', '2']);
    expect(contents(inbox, A, ['t', 's'])).toEqual(['1', '2', '3']);
    const [first] = inbox.pending(A, ['s'], 0, 1);
    inbox.deliver([first?.seq ?? 0]);
    expect(contents(inbox)).toEqual(['2']);
    expect(inbox.messages({ named: 'x' }, 10)).toMatchObject([
      { id: 'x', project: '/p', source: 's', content: '2', state: 'pending' },
    ]);
  });

  test('is readable by its owner only, and outlives its process', async () => {
    const { inbox, directory } = await opened();
    inbox.admit(A, [message('kept')]);
    inbox[Symbol.dispose]();
    const { inbox: again } = await opened({}, directory);
    expect(contents(again)).toEqual(['kept']);
    const modes = ['', '/inbox.db', '/inbox.db-wal'].map((it) => statSync(`${directory}${it}`).mode & 0o077);
    expect(modes).toEqual([0, 0, 0]);
  });

  test('removes the permissions of other users from the file', async () => {
    const { inbox, directory } = await opened();
    inbox[Symbol.dispose]();
    chmodSync(join(directory, 'inbox.db'), 0o666);
    const { inbox: again } = await opened({}, directory);
    again.admit(A, [message('x')]);
    const modes = ['inbox.db', 'inbox.db-wal'].map((it) => statSync(join(directory, it)).mode & 0o077);
    expect(modes).toEqual([0, 0]);
  });

  test('is one inbox for processes that reach it through a symbolic link', async () => {
    const { inbox, directory } = await opened();
    const [folder, file] = [mkdtempSync(join(tmpdir(), 'link-')), mkdtempSync(join(tmpdir(), 'link-'))];
    symlinkSync(directory, join(folder, 'channels'));
    symlinkSync(join(directory, 'inbox.db'), join(file, 'inbox.db'));
    for (const path of [join(folder, 'channels'), file]) {
      const { inbox: linked } = await opened({}, path);
      linked.admit(A, [message(path)]);
      expect(contents(inbox)).toContain(path);
    }
    expect(contents(inbox)).toHaveLength(2);
  });

  test('takes over an inbox of the previous version', async () => {
    const { inbox, directory } = await opened();
    inbox.admit(A, [message('kept')]);
    inbox[Symbol.dispose]();
    const db = new DatabaseSync(join(directory, 'inbox.db'));
    db.exec('ALTER TABLE message DROP COLUMN expired_at; PRAGMA user_version = 2');
    db.close();
    {
      using reader = await Inbox.open(directory, { access: 'read' });
      expect(reader.messages({}, 10)).toHaveLength(1);
    }
    const { inbox: again } = await opened({}, directory);
    again.expire();
    expect(contents(again)).toEqual(['kept']);
  });

  test.each([
    ['the same message in one conversation', A, 'x', 'one', 'duplicate'],
    ['the id of another message in one conversation', A, 'x', 'other content', 'conflict'],
    ['the same message after its conversation ended', B, 'x', 'one', 'duplicate'],
    ['the id of another message after its conversation ended', B, 'x', 'two', 'admitted'],
    ['another id', A, 'y', 'one', 'admitted'],
  ])('%s', async (_, owner, id, content, kind) => {
    const { inbox } = await opened();
    inbox.enter(A);
    inbox.admit(A, [message('one', { id: 'x' })]);
    if (owner === B) inbox.leave('a');
    expect(inbox.admit(owner, [message(content, { id })])).toMatchObject([{ kind, id }]);
  });

  test('conversations that run at the same time each get a message', async () => {
    const { inbox } = await opened();
    inbox.enter(A);
    inbox.enter(B);
    inbox.admit(A, [message('one', { id: 'x' })]);
    expect(inbox.admit(B, [message('one', { id: 'x' })])).toMatchObject([{ kind: 'admitted', id: 'x' }]);
  });

  test('a conversation that has a message does not get the copies that ended conversations left', async () => {
    const { inbox } = await opened();
    const owners = [A, B, { ...A, conversation: 'c' }];
    for (const owner of owners) inbox.enter(owner);
    for (const owner of owners) inbox.admit(owner, [message('one', { id: 'x' })]);
    inbox.deliver(inbox.pending(B, ['s'], 0, 1).map(({ seq }) => seq));
    inbox.leave('a');
    inbox.leave('c');
    expect(inbox.adopt(B, ['s'])).toBe(0);
    expect(contents(inbox, B)).toEqual([]);
    expect(inbox.summaries()).toMatchObject([{ counts: { pending: 0, delivered: 3 } }]);
  });

  test('copies of two ended conversations are taken over once, other messages with the same id too', async () => {
    const { inbox } = await opened();
    for (const owner of [A, { ...A, conversation: 'c' }]) {
      inbox.enter(owner);
      inbox.admit(owner, [message('one', { id: 'x' }), message(`of ${owner.conversation}`, { id: 'y' })]);
    }
    inbox.leave('a');
    inbox.leave('c');
    inbox.adopt(B, ['s']);
    expect(contents(inbox, B)).toEqual(['one', 'of a', 'of c']);
    const again = inbox.admit(B, [message('of c', { id: 'y' }), message('new', { id: 'y' })]);
    expect(again.map(({ kind }) => kind)).toEqual(['duplicate', 'conflict']);
  });

  test('a message that is posted twice is a duplicate, also if a running conversation has it', async () => {
    const { inbox } = await opened();
    inbox.enter(A);
    const posted = () => inbox.post('/p', message('hi', { source: 'local', id: 'x' }));
    expect(posted()).toEqual({ kind: 'admitted', id: 'x', state: 'pending' });
    expect(posted()).toEqual({ kind: 'duplicate', id: 'x', state: 'pending' });
    inbox.adopt(A, ['local']);
    inbox.deliver(inbox.pending(A, ['local'], 0, 1).map(({ seq }) => seq));
    expect(posted()).toEqual({ kind: 'duplicate', id: 'x', state: 'delivered' });
  });

  test('a quarantined message does not suppress an admitted one with its id', async () => {
    const { inbox } = await opened();
    const forged = message('forged', { id: '7', state: 'quarantined', reason: 'unknown sender' });
    const real = message('real', { id: '7' });
    const outcomes = inbox.admit(A, [forged, forged, real, real, forged]);
    expect(outcomes.map((it) => [it.kind, 'state' in it ? it.state : undefined])).toEqual([
      ['admitted', 'quarantined'],
      ['duplicate', 'quarantined'],
      ['admitted', 'pending'],
      ['duplicate', 'pending'],
      ['duplicate', 'quarantined'],
    ]);
    expect(contents(inbox)).toEqual(['real']);
    // Once released, the quarantined message is delivered too.
    inbox.deliver(inbox.pending(A, ['s'], 0, 1).map(({ seq }) => seq));
    inbox.retry({ named: '7' });
    inbox.adopt(A, ['s']);
    expect(contents(inbox)).toEqual(['forged']);
  });

  test('the quarantine drops its oldest messages, and takes no space of others', async () => {
    const { inbox } = await opened({ maxWaiting: 1, maxQuarantined: 3, maxQuarantinedBytes: 1_000 });
    const odd = (content: string) => message(content, { state: 'quarantined', reason: 'unknown sender' });
    const kept = () => inbox.messages({ states: ['quarantined'] }, 10).map(({ content }) => content);
    expect(inbox.admit(A, ['1', '2', '3', '4'].map(odd))).toMatchObject(Array(4).fill({ kind: 'admitted' }));
    expect(kept()).toEqual(['2', '3', '4']);
    inbox.admit(A, [odd('x'.repeat(997))]);
    expect(kept()).toEqual(['x'.repeat(997)]);
    expect(inbox.admit(A, [message('real')])).toMatchObject([{ kind: 'admitted' }]);
  });

  test('a message costs the same with few and with many waiting', async () => {
    const [{ inbox: empty }, { inbox: full }] = [await opened(), await opened()];
    for (let n = 0; n < 40; n++)
      full.admit(
        A,
        Array.from({ length: 1_000 }, () => message('x'.repeat(300))),
      );
    const cost = (inbox: Inbox) => {
      const times = Array.from({ length: 40 }, () => {
        const start = performance.now();
        inbox.admit(A, [message('x')]);
        return performance.now() - start;
      });
      return times.toSorted((a, b) => a - b)[20] ?? 0;
    };
    expect(cost(full)).toBeLessThan(cost(empty) + 4);
  });

  test('duplicates inside one batch are found', async () => {
    const { inbox } = await opened();
    const outcomes = inbox.admit(A, [message('one', { id: 'x' }), message('one', { id: 'x' })]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['admitted', 'duplicate']);
  });

  test('a source that has too many messages waiting is refused, others are not', async () => {
    const { inbox } = await opened({ maxWaiting: 2, maxWaitingBytes: 1_000 });
    const kinds = (...given: NewMessage[]) => inbox.admit(A, given).map(({ kind }) => kind);
    expect(kinds(message('1'), message('2'), message('3'))).toEqual(['admitted', 'admitted', 'quota']);
    expect(kinds(message('x'.repeat(2_000), { source: 't' }), message('1', { source: 't' }))).toEqual([
      'quota',
      'admitted',
    ]);
    inbox.deliver(inbox.pending(A, ['s'], 0, 10).map(({ seq }) => seq));
    expect(kinds(message('4'))).toEqual(['admitted']);
  });

  test('a conversation takes over what ended ones left, but only of its own channels', async () => {
    const { inbox } = await opened();
    inbox.enter(A);
    inbox.enter(B);
    inbox.admit(A, [message('1'), message('2', { source: 'other' })]);
    expect(inbox.adopt(B, ['s'])).toBe(0);
    inbox.leave('a');
    expect(inbox.adopt(B, ['s'])).toBe(1);
    expect(contents(inbox, B)).toEqual(['1']);
    expect(inbox.adopt({ ...B, project: '/elsewhere' }, ['s', 'other'])).toBe(0);
  });

  test('messages without a conversation go to the first that accepts their source', async () => {
    const { inbox } = await opened();
    expect(inbox.post('/p', message('hi', { source: 'local' }))).toMatchObject({ kind: 'admitted' });
    inbox.enter(A);
    expect(inbox.adopt(A, ['s', 'local'])).toBe(1);
    expect(contents(inbox, A, ['local'])).toEqual(['hi']);
  });

  test('transfer gives pending messages to the conversation that continues', async () => {
    const { inbox } = await opened();
    inbox.enter(A);
    inbox.admit(A, [message('1')]);
    inbox.transfer('a', B);
    expect(contents(inbox, B)).toEqual(['1']);
    expect(inbox.adopt({ ...A, conversation: 'c' }, ['s'])).toBe(0);
  });

  test('a quarantined message is delivered after it was released', async () => {
    const { inbox } = await opened();
    inbox.admit(A, [message('odd', { id: 'q', state: 'quarantined', reason: 'unknown sender' })]);
    expect(contents(inbox)).toEqual([]);
    expect(inbox.messages({ states: ['quarantined'] }, 10)).toMatchObject([
      { id: 'q', reason: 'unknown sender' },
    ]);
    expect(inbox.retry({ named: 's/q' })).toBe(1);
    expect(inbox.retry({ named: 's/q' })).toBe(0);
    inbox.adopt(A, ['s']);
    expect(contents(inbox)).toEqual(['odd']);
  });

  test('old pending messages expire, and old messages are deleted', async () => {
    let now = 1_000_000;
    const { inbox } = await opened({ maxAgeMs: 1_000 }, undefined, () => now);
    inbox.admit(A, [message('1'), message('2')]);
    inbox.deliver(inbox.pending(A, ['s'], 0, 1).map(({ seq }) => seq));
    now += 1_001;
    inbox.expire();
    expect(inbox.messages({}, 10)).toMatchObject([{ content: '2', state: 'expired' }]);
    expect(inbox.retry({})).toBe(1);
    now += 1_001;
    inbox.expire();
    now += 999;
    inbox.expire();
    expect(inbox.messages({}, 10)).toMatchObject([{ state: 'expired' }]);
    now += 2;
    inbox.expire();
    expect(inbox.messages({}, 10)).toEqual([]);
  });

  test('a clock that jumps ahead for a moment deletes nothing that waits', async () => {
    let now = 1_000_000;
    const { inbox } = await opened({ maxAgeMs: 1_000 }, undefined, () => now);
    inbox.admit(A, [message('1')]);
    now += 1_000_000_000;
    inbox.expire();
    inbox.expire();
    now -= 1_000_000_000;
    inbox.expire();
    expect(inbox.messages({}, 10)).toMatchObject([{ content: '1', state: 'expired' }]);
    expect(inbox.retry({})).toBe(1);
  });

  test('when the inbox is full, delivered messages are deleted, but not pending ones', async () => {
    const { inbox } = await opened({ maxFileBytes: 300 * 1024 });
    inbox.admit(A, [message('waits', { source: 'patient' })]);
    for (let n = 0; n < 200; n++) {
      expect(inbox.admit(A, [message('x'.repeat(5_000))])).toMatchObject([{ kind: 'admitted' }]);
      inbox.deliver(inbox.pending(A, ['s'], 0, 10).map(({ seq }) => seq));
    }
    expect(contents(inbox, A, ['patient'])).toEqual(['waits']);
    expect(inbox.summaries()).toMatchObject([{ source: 'patient', counts: { pending: 1 } }, { source: 's' }]);
  });

  test('summaries count the messages of each source by state, and those that were refused', async () => {
    const { inbox } = await opened();
    inbox.admit(A, [message('1'), message('2'), message('3', { state: 'quarantined', reason: 'x' })]);
    inbox.deliver(inbox.pending(A, ['s'], 0, 1).map(({ seq }) => seq));
    inbox.refuse('/p', 's', 3);
    inbox.refuse('/p', 's', 4);
    inbox.admit({ ...A, project: '/q' }, [message('4')]);
    expect(inbox.summaries('/p')).toEqual([
      {
        project: '/p',
        source: 's',
        counts: { pending: 1, delivered: 1, quarantined: 1, expired: 0, refused: 7 },
        lastAt: expect.any(Number),
      },
    ]);
    expect(inbox.summaries()).toHaveLength(2);
    expect(inbox.purge({ project: '/p', states: ['delivered'] })).toBe(1);
  });

  test('tail continues after a position', async () => {
    const { inbox } = await opened();
    inbox.admit(
      A,
      ['1', '2', '3'].map((it) => message(it)),
    );
    const last = inbox.messages({}, 2);
    expect(last.map(({ content }) => content)).toEqual(['2', '3']);
    inbox.admit(A, [message('4')]);
    expect(inbox.messages({}, 10, last.at(-1)?.seq).map(({ content }) => content)).toEqual(['4']);
  });

  test('the version changes only when another process writes', async () => {
    const { inbox, directory } = await opened();
    const { inbox: other } = await opened({}, directory);
    const before = inbox.version;
    inbox.admit(A, [message('1')]);
    expect(inbox.version).toBe(before);
    other.admit(B, [message('2')]);
    expect(inbox.version).not.toBe(before);
  });
});

describe('an inbox that is only read', () => {
  test('needs no writable directory, and sees what others write', async () => {
    const { inbox, directory } = await opened();
    inbox.admit(A, [message('1')]);
    using reader = await Inbox.open(directory, { access: 'read' });
    const before = reader.version;
    expect(reader.messages({}, 10)).toMatchObject([{ content: '1' }]);
    inbox.admit(A, [message('2')]);
    expect(reader.version).not.toBe(before);
    expect(reader.messages({}, 10)).toHaveLength(2);
    expect(() => reader.purge({})).toThrow();
  });

  test('is read from a read-only directory', async () => {
    const { inbox, directory } = await opened();
    inbox.admit(A, [message('1')]);
    inbox[Symbol.dispose]();
    chmodSync(join(directory, 'inbox.db'), 0o444);
    chmodSync(directory, 0o555);
    onTestFinished(() => chmodSync(directory, 0o700));
    // The rights of root are not restricted.
    const given = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const source = new URL('../../src/channels/inbox.ts', import.meta.url).href;
    const script = `const { Inbox } = await import(${JSON.stringify(source)});
      const inbox = await Inbox.open(${JSON.stringify(directory)}, { access: 'read' });
      console.log(JSON.stringify(inbox.messages({}, 10).map(({ content }) => content)), JSON.stringify(inbox.summaries().length));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], given);
    const output = (await child.stdout.toArray()).join('') + (await child.stderr.toArray()).join('');
    expect(output).toContain('["1"] 1');
  });

  test('is empty if there is none', async () => {
    using inbox = await Inbox.open(mkdtempSync(join(tmpdir(), 'inbox-')), { access: 'read' });
    expect(inbox.messages({}, 10)).toEqual([]);
  });
});

describe('an inbox that cannot be used', () => {
  test('one that another process keeps locked fails soon, and says so', async () => {
    const { inbox, directory } = await opened();
    const db = new DatabaseSync(join(directory, 'inbox.db'));
    db.exec('BEGIN IMMEDIATE');
    const start = performance.now();
    try {
      inbox.admit(A, [message('1')]);
      expect.unreachable();
    } catch (cause) {
      expect(isLocked(cause)).toBe(true);
      expect(storageFault(cause)).toMatch(/another process keeps it locked/);
    }
    expect(performance.now() - start).toBeLessThan(1_000);
    db.exec('ROLLBACK');
    db.close();
  });

  test('a full one keeps what it has acknowledged', async () => {
    const { inbox } = await opened({ maxFileBytes: 64 * 1024 });
    let stored = 0;
    const fill = () => {
      for (;;) stored += inbox.admit(A, [message('x'.repeat(5_000))]).length;
    };
    expect(fill).toThrow();
    expect(stored).toBeGreaterThan(0);
    expect(contents(inbox)).toHaveLength(stored);
    try {
      fill();
    } catch (cause) {
      expect(storageFault(cause)).toMatch(/^the disk is full, or the inbox has reached its maximum size/);
    }
  });

  test.each([
    [
      'a file that is no database',
      'not a database, but more than a hundred bytes '.repeat(10),
      /is not a database; move it away/,
    ],
    ['a newer version', 99, /newer version of Toolplane; update Toolplane/],
    ['an earlier version', 1, /earlier version of Toolplane, .*move the file away/],
  ])('%s', async (_, content, fault) => {
    const directory = mkdtempSync(join(tmpdir(), 'inbox-'));
    const path = join(directory, 'inbox.db');
    if (typeof content === 'number') {
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA user_version = ${content}`);
      db.close();
    } else writeFileSync(path, content);
    await expect(Inbox.open(directory)).rejects.toThrow(fault);
  });

  test('a directory that cannot be created', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'inbox-'));
    writeFileSync(join(directory, 'file'), '');
    await expect(Inbox.open(join(directory, 'file', 'inbox'))).rejects.toThrow(/cannot be opened/);
  });

  test('a read-only database', async () => {
    const { directory } = await opened();
    const db = new DatabaseSync(join(directory, 'inbox.db'), { readOnly: true });
    chmodSync(directory, 0o500);
    onTestFinished(() => chmodSync(directory, 0o700));
    try {
      db.exec('DELETE FROM message');
      expect.unreachable();
    } catch (cause) {
      expect(storageFault(cause)).toBe('it or its directory is read-only; make both writable');
    } finally {
      db.close();
    }
  });
});
