import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changeTask,
  claimTask,
  openBlockers,
  parseTask,
  type Task,
  type TaskGraph,
  withoutTask,
} from '../../../src/agent/task-list/task-graph.ts';

function task(id: string, more: Partial<Task> = {}): Task {
  return { id, subject: `s${id}`, description: '', status: 'pending', blocks: [], blockedBy: [], ...more };
}

/** A graph with dependencies `[blocked, blocker]`. */
function graphOf(ids: readonly string[], edges: readonly (readonly [string, string])[] = []): TaskGraph {
  return edges.reduce<TaskGraph>(
    (graph, [id, blocker]) => applied(graph, id, { addBlockedBy: [blocker] }),
    new Map(ids.map((id) => [id, task(id)])),
  );
}

function applied(graph: TaskGraph, id: string, change: Parameters<typeof changeTask>[2]): TaskGraph {
  const changed = changeTask(graph, id, change);
  return changed.kind === 'changed'
    ? new Map([...graph, ...changed.tasks.map((it) => [it.id, it] as const)])
    : graph;
}

describe('changing a task', () => {
  test.each<[string, Parameters<typeof changeTask>[2], readonly string[], Partial<Task>]>([
    [
      'texts',
      { subject: 'a', description: 'b', activeForm: 'c' },
      ['subject', 'description', 'activeForm'],
      { subject: 'a', description: 'b', activeForm: 'c' },
    ],
    ['the same text', { subject: 's1' }, [], {}],
    [
      'owner and status',
      { status: 'in_progress', owner: 'me' },
      ['owner', 'status'],
      { status: 'in_progress', owner: 'me' },
    ],
    [
      'metadata: members are merged, null deletes',
      { metadata: { a: null, c: 3 } },
      ['metadata'],
      { metadata: { b: 2, c: 3 } },
    ],
    [
      'dependencies',
      { addBlocks: ['2'], addBlockedBy: ['3'] },
      ['blocks', 'blockedBy'],
      { blocks: ['2'], blockedBy: ['3'] },
    ],
    ['the same dependency twice', { addBlocks: ['2', '2'] }, ['blocks'], { blocks: ['2'] }],
    ['an unknown task', { addBlockedBy: ['9'] }, [], {}],
    ['an unknown and a known task', { addBlockedBy: ['9', '2'] }, ['blockedBy'], { blockedBy: ['2'] }],
  ])('%s', (_, change, updatedFields, expected) => {
    const before = { ...task('1', { metadata: { a: 1, b: 2 } }) };
    const graph = new Map([before, task('2'), task('3')].map((it) => [it.id, it]));
    const changed = changeTask(graph, '1', change);
    expect(changed).toMatchObject({ kind: 'changed', updatedFields });
    expect(applied(graph, '1', change).get('1')).toEqual({ ...before, ...expected });
  });

  test('a dependency is recorded at both of its tasks', () => {
    const graph = graphOf(['1', '2'], [['2', '1']]);
    expect([graph.get('1')?.blocks, graph.get('2')?.blockedBy]).toEqual([['2'], ['1']]);
  });

  test('an unknown task is missing', () => {
    expect(changeTask(graphOf([]), '1', { subject: 'x' })).toEqual({ kind: 'missing' });
  });

  test.each<[string, string, object, readonly string[]]>([
    ['a task that blocks itself', '1', { addBlockedBy: ['1'] }, ['1', '1']],
    ['a task blocked by one that it blocks', '1', { addBlockedBy: ['3'] }, ['1', '3', '2', '1']],
    ['a task that blocks one it is blocked by', '3', { addBlocks: ['1'] }, ['3', '2', '1', '3']],
    ['both directions in one change', '4', { addBlocks: ['1'], addBlockedBy: ['1'] }, ['4', '1', '4']],
  ])('%s is refused with the cycle, and nothing else is changed', (_, id, change, ids) => {
    const graph = graphOf(
      ['1', '2', '3', '4'],
      [
        ['2', '1'],
        ['3', '2'],
      ],
    );
    expect(changeTask(graph, id, { subject: 'new', ...change })).toEqual({ kind: 'cycle', ids });
  });

  test('any sequence of changes leaves a graph without cycles whose sides agree', () => {
    const id = fc.integer({ min: 1, max: 8 }).map(String);
    const step = fc.oneof(
      fc.record({
        id,
        addBlocks: fc.array(id, { maxLength: 3 }),
        addBlockedBy: fc.array(id, { maxLength: 3 }),
      }),
      fc.record({ id, removed: fc.constant(true) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let graph: TaskGraph = graphOf(['1', '2', '3', '4', '5', '6', '7', '8']);
        for (const { id: at, ...change } of steps) {
          if (!('removed' in change)) graph = applied(graph, at, change);
          else graph = removed(graph, at);
          expect(isAcyclic(graph)).toBe(true);
          for (const { id: one, blocks, blockedBy } of graph.values()) {
            for (const other of blocks) expect(graph.get(other)?.blockedBy).toContain(one);
            for (const other of blockedBy) expect(graph.get(other)?.blocks).toContain(one);
          }
        }
      }),
    );
  });

  test('a change is refused exactly if the dependency leads back', () => {
    const id = fc.integer({ min: 1, max: 6 }).map(String);
    fc.assert(
      fc.property(fc.array(fc.tuple(id, id), { maxLength: 20 }), (edges) => {
        let graph: TaskGraph = graphOf(['1', '2', '3', '4', '5', '6']);
        for (const [blocked, blocker] of edges) {
          const leadsBack = blocked === blocker || reaches(graph, blocker, blocked);
          const { kind } = changeTask(graph, blocked, { addBlockedBy: [blocker] });
          expect(kind).toBe(
            leadsBack && !graph.get(blocked)?.blockedBy.includes(blocker) ? 'cycle' : 'changed',
          );
          graph = applied(graph, blocked, { addBlockedBy: [blocker] });
        }
      }),
    );
  });
});

/** Whether a task is blocked by another one, also through others; written differently from the code under test. */
function reaches(graph: TaskGraph, from: string, to: string): boolean {
  return graph.get(from)?.blockedBy.some((it) => it === to || reaches(graph, it, to)) ?? false;
}

/** Kahn's algorithm: tasks without blockers can be removed until none is left. */
function isAcyclic(graph: TaskGraph): boolean {
  const left = new Map(graph);
  for (;;) {
    const free = [...left.values()].find(({ blockedBy }) => !blockedBy.some((it) => left.has(it)));
    if (!free) return left.size === 0;
    left.delete(free.id);
  }
}

function removed(graph: TaskGraph, id: string): TaskGraph {
  const left = new Map([...graph, ...withoutTask(graph, id).map((it) => [it.id, it] as const)]);
  left.delete(id);
  return left;
}

describe('claiming a task', () => {
  const graph: TaskGraph = new Map(
    [
      task('1', { status: 'completed', blocks: ['3'] }),
      task('2', { blocks: ['3', '4'] }),
      task('3', { blockedBy: ['1', '2'] }),
      task('4', { blockedBy: ['1', '9'] }),
      task('5', { status: 'in_progress', owner: 'me' }),
      task('6', { owner: 'other' }),
      task('7', { owner: 'me' }),
    ].map((it) => [it.id, it]),
  );

  test.each<[string, string, object]>([
    ['a completed task', '1', { kind: 'taken' }],
    ['a free task', '2', { kind: 'claimed', task: { status: 'in_progress', owner: 'me' } }],
    ['a task with an open blocker', '3', { kind: 'blocked', by: ['2'] }],
    ['a task whose blockers are completed or gone', '4', { kind: 'claimed' }],
    ['a task that is in progress', '5', { kind: 'taken' }],
    ['a task of another owner', '6', { kind: 'taken' }],
    ['a pending task of the same owner', '7', { kind: 'claimed' }],
    ['an unknown task', '8', { kind: 'missing' }],
  ])('%s', (_, id, expected) => {
    expect(claimTask(graph, id, 'me')).toMatchObject(expected);
  });

  test('completed tasks no longer block', () => {
    expect(openBlockers(graph.get('3') as Task, graph)).toEqual(['2']);
  });
});

test.each<[string, unknown]>([
  ['no object', 'x'],
  ['another id', { ...task('2') }],
  ['an unknown status', { ...task('1'), status: 'done' }],
  ['dependencies that are no list', { ...task('1'), blocks: '2' }],
  ['a dependency that is no id', { ...task('1'), blockedBy: [2] }],
  ['metadata that is no object', { ...task('1'), metadata: [] }],
  ['an owner that is no text', { ...task('1'), owner: 1 }],
])('a stored value is no task: %s', (_, value) => {
  expect(parseTask(value, '1')).toBeUndefined();
  expect(parseTask(task('1'), '1')).toEqual(task('1'));
});
