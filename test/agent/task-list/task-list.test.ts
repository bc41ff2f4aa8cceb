import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { TaskList } from '../../../src/agent/task-list/task-list.ts';
import { directoryWith } from '../builtins/built-in-world.ts';

const PROCESSES = 8;
/** 1,000 tasks with `TOOLPLANE_LONG_TESTS=1`. */
const RACED_TASKS = process.env.TOOLPLANE_LONG_TESTS === '1' ? 1_000 : 80;

function newList(): TaskList {
  return new TaskList(join(directoryWith(), 'tasks', 'list'));
}

function created(list: TaskList, subject: string): string {
  const outcome = list.create({ subject, description: '' });
  if (outcome.kind !== 'created') throw new Error(outcome.fault);
  return outcome.task.id;
}

test('a list that does not exist is empty, and reading it creates nothing', () => {
  const list = newList();
  expect([...list.graph()]).toEqual([]);
  expect(list.get('1')).toBeUndefined();
  expect(() => statSync(list.directory)).toThrow('ENOENT');
});

test('each task is a file that only its user can read', () => {
  const list = newList();
  list.create({ subject: 'a', description: 'b', activeForm: 'c', metadata: { d: 1 } });
  expect(JSON.parse(readFileSync(join(list.directory, '1.json'), 'utf8'))).toEqual({
    id: '1',
    subject: 'a',
    description: 'b',
    activeForm: 'c',
    status: 'pending',
    blocks: [],
    blockedBy: [],
    metadata: { d: 1 },
  });
  expect([list.directory, join(list.directory, '1.json')].map((path) => statSync(path).mode & 0o777)).toEqual(
    [0o700, 0o600],
  );
  expect(readdirSync(list.directory)).toEqual(['1.json']);
});

test('ids are not used again, also by another process', () => {
  const list = newList();
  for (const subject of ['a', 'b', 'c']) created(list, subject);
  list.remove('3');
  list.remove('1');
  expect(created(new TaskList(list.directory), 'd')).toBe('4');
  expect([...list.graph().keys()]).toEqual(['2', '4']);
});

test('a deleted task no longer blocks others', () => {
  const list = newList();
  for (const subject of ['a', 'b', 'c']) created(list, subject);
  list.update('2', { addBlockedBy: ['1'], addBlocks: ['3'] });
  expect(list.remove('2')).toMatchObject({ id: '2' });
  expect(list.remove('2')).toBeUndefined();
  expect([...list.graph().values()].map(({ blocks, blockedBy }) => [blocks, blockedBy])).toEqual([
    [[], []],
    [[], []],
  ]);
});

test('changes of another list object are seen', () => {
  const list = newList();
  const other = new TaskList(list.directory);
  created(list, 'a');
  expect(other.get('1')?.status).toBe('pending');
  list.update('1', { status: 'completed' });
  expect(other.get('1')?.status).toBe('completed');
});

test('files that are no tasks are left out', () => {
  const list = newList();
  created(list, 'a');
  const put = (name: string, text: string) => writeFileSync(join(list.directory, name), text);
  put('2.json', '{ torn');
  put('3.json', JSON.stringify({ ...list.get('1') }));
  put('04.json', JSON.stringify({ ...list.get('1'), id: '04' }));
  put('notes.txt', 'x');
  mkdirSync(join(list.directory, '5.json'));
  put('6.json', ' '.repeat(300 * 1024));
  expect([...list.graph().keys()]).toEqual(['1']);
  expect(created(list, 'next')).toBe('7');
});

test('a task that is too large is refused, and the stored task is kept', () => {
  const list = newList();
  const large = 'x'.repeat(300 * 1024);
  expect(list.create({ subject: large, description: '' })).toMatchObject({ kind: 'refused' });
  created(list, 'a');
  expect(list.update('1', { description: large })).toMatchObject({ kind: 'refused' });
  expect(list.get('1')?.description).toBe('');
});

test('the first unblocked task without an owner is claimed', () => {
  const list = newList();
  for (const subject of ['a', 'b', 'c']) created(list, subject);
  list.update('1', { owner: 'other' });
  list.update('2', { addBlockedBy: ['3'] });
  expect(list.claimNext('me')).toMatchObject({ id: '3', status: 'in_progress', owner: 'me' });
  expect(list.claimNext('me')).toBeUndefined();
  expect(list.claim('3', 'you')).toMatchObject({ kind: 'taken', task: { owner: 'me' } });
  list.update('3', { status: 'completed' });
  expect(list.claimNext('you')).toMatchObject({ id: '2', owner: 'you' });
});

test(`of ${PROCESSES} processes that race for tasks with dependencies, one gets each`, async () => {
  const list = newList();
  for (let n = 1; n <= RACED_TASKS; n++) created(list, `task ${n}`);
  for (let n = 10; n <= RACED_TASKS; n += 10)
    list.update(String(n), { addBlockedBy: [String(n - 9), String(n - 5)] });
  const program = new URL('fixtures/claiming-process.ts', import.meta.url).pathname;
  const racers = Array.from({ length: PROCESSES }, (_, at) => {
    const child = spawn(process.execPath, [program, list.directory, `agent-${at}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, lines: createInterface({ input: child.stdout }) };
  });
  await Promise.all(racers.map(({ lines }) => once(lines, 'line')));
  const results = await Promise.all(
    racers.map(async ({ child, lines }) => {
      const line = once(lines, 'line');
      child.stdin.write('go\n');
      return JSON.parse(String((await line)[0])) as { claimed: string[]; lost: number };
    }),
  );
  const claims = results.flatMap(({ claimed }) => claimed);
  expect(claims.map(Number).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: RACED_TASKS }, (_, at) => at + 1),
  );
  for (const [at, { claimed }] of results.entries()) {
    for (const id of claimed)
      expect(list.get(id)).toMatchObject({ owner: `agent-${at}`, status: 'completed' });
  }
  if (RACED_TASKS === 1_000)
    console.log(
      `claims per process: ${results.map(({ claimed, lost }) => `${claimed.length} (lost ${lost})`).join(', ')}`,
    );
}, 300_000);

test('tasks that an owner has started are completed or released by that owner only', () => {
  const list = newList();
  for (const subject of ['a', 'b', 'c']) list.create({ subject, description: '' });
  expect(list.claimNext('ada', new Set(['1']))?.id).toBe('2');
  expect(list.claimNext('ada')?.id).toBe('1');
  expect(list.complete('1', 'bob')).toBe(false);
  expect(list.complete('1', 'ada')).toBe(true);
  expect(list.complete('1', 'ada')).toBe(false);
  expect(list.release('bob')).toEqual([]);
  expect(list.release('ada')).toEqual(['2']);
  expect(list.get('1')).toMatchObject({ status: 'completed', owner: 'ada' });
  expect(list.get('2')).toEqual({ ...list.get('2'), status: 'pending' });
  expect(list.get('2')).not.toHaveProperty('owner');
});
