import { isRecord } from '../../base/json-value.ts';

const STATUSES = ['pending', 'in_progress', 'completed'] as const;

export type TaskStatus = (typeof STATUSES)[number];

/** A task, as its file stores it. `blocks` and `blockedBy` are ids; each dependency is recorded at both of its tasks. */
export type Task = {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  /** What is being done while the task is in progress, such as "Running tests". */
  readonly activeForm?: string;
  readonly status: TaskStatus;
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  readonly owner?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
};

export type TaskGraph = ReadonlyMap<string, Task>;

/** The requested changes of one task. Ids of unknown tasks are ignored; `null` deletes a member of the metadata. */
export type TaskChange = {
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly activeForm?: string | undefined;
  readonly owner?: string | undefined;
  readonly status?: TaskStatus | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly addBlocks?: readonly string[] | undefined;
  readonly addBlockedBy?: readonly string[] | undefined;
};

/** The tasks to store, and what changed; or why nothing changes. */
export type ChangedGraph =
  | {
      readonly kind: 'changed';
      readonly tasks: readonly Task[];
      readonly updatedFields: readonly string[];
      readonly statusChange?: { readonly from: TaskStatus; readonly to: TaskStatus };
    }
  | { readonly kind: 'missing' }
  /** The ids of a cycle that the change would create: each task is blocked by the next one. */
  | { readonly kind: 'cycle'; readonly ids: readonly string[] };

/** The outcome of a claim. `taken`: the task has another owner, or is not pending. */
export type Claim =
  | { readonly kind: 'claimed'; readonly task: Task }
  | { readonly kind: 'missing' }
  | { readonly kind: 'taken'; readonly task: Task }
  | { readonly kind: 'blocked'; readonly by: readonly string[] };

/** Parses a stored task; undefined if the value is not the task with this id. */
export function parseTask(value: unknown, id: string): Task | undefined {
  if (!isRecord(value) || value.id !== id) return undefined;
  const { subject, description, activeForm, status, blocks, blockedBy, owner, metadata } = value;
  const isValid =
    typeof subject === 'string' &&
    typeof description === 'string' &&
    STATUSES.some((it) => it === status) &&
    [blocks, blockedBy].every((it) => Array.isArray(it) && it.every((other) => typeof other === 'string')) &&
    [activeForm, owner].every((it) => it === undefined || typeof it === 'string') &&
    (metadata === undefined || isRecord(metadata));
  return isValid ? (value as Task) : undefined;
}

/** The tasks that must be completed before the task can start. */
export function openBlockers({ blockedBy }: Task, graph: TaskGraph): string[] {
  return blockedBy.filter((id) => {
    const blocker = graph.get(id);
    return blocker !== undefined && blocker.status !== 'completed';
  });
}

/** Applies a change to a graph. A change that would create a cycle is not applied at all. */
export function changeTask(graph: TaskGraph, id: string, change: TaskChange): ChangedGraph {
  const before = graph.get(id);
  if (!before) return { kind: 'missing' };
  const { owner, status, metadata } = change;
  const isOther = <K extends 'subject' | 'description' | 'activeForm' | 'owner' | 'status'>(name: K) =>
    change[name] !== undefined && change[name] !== before[name];
  const texts = (['subject', 'description', 'activeForm'] as const).filter(isOther);
  const blocks = newIds(graph, before.blocks, change.addBlocks);
  const blockedBy = newIds(graph, before.blockedBy, change.addBlockedBy);
  const task: Task = {
    ...before,
    ...Object.fromEntries(texts.map((name) => [name, change[name]])),
    ...(isOther('status') && status && { status }),
    blocks: [...before.blocks, ...blocks],
    blockedBy: [...before.blockedBy, ...blockedBy],
    ...(isOther('owner') && owner !== undefined && { owner }),
    ...(metadata && { metadata: mergeMetadata(before.metadata, metadata) }),
  };
  const others = [
    ...blockedBy.map((other) => linked(graph, other, id, 'blocks')),
    ...blocks.map((other) => linked(graph, other, id, 'blockedBy')),
  ];
  const changed = new Map([...others, task].map((it) => [it.id, it]));
  // A new dependency on itself is a cycle; so are two that lead there and back.
  const ids =
    blocks.length + blockedBy.length > 0 ? cycleThrough(id, merged(graph, others, task)) : undefined;
  if (ids) return { kind: 'cycle', ids };
  return {
    kind: 'changed',
    tasks: [...changed.values()],
    updatedFields: [
      ...texts,
      ...(isOther('owner') ? ['owner'] : []),
      ...(isOther('status') ? ['status'] : []),
      ...(metadata ? ['metadata'] : []),
      ...(blocks.length > 0 ? ['blocks'] : []),
      ...(blockedBy.length > 0 ? ['blockedBy'] : []),
    ],
    ...(isOther('status') && status && { statusChange: { from: before.status, to: status } }),
  };
}

/** The other tasks without their dependencies on a task that is deleted; only those that change. */
export function withoutTask(graph: TaskGraph, id: string): Task[] {
  const others = [...graph.values()].filter(
    ({ blocks, blockedBy }) => blocks.includes(id) || blockedBy.includes(id),
  );
  return others
    .filter((it) => it.id !== id)
    .map((it) => ({
      ...it,
      blocks: it.blocks.filter((other) => other !== id),
      blockedBy: it.blockedBy.filter((other) => other !== id),
    }));
}

/** Claims a task for an owner: it must be pending, unblocked, and have no other owner. */
export function claimTask(graph: TaskGraph, id: string, owner: string): Claim {
  const task = graph.get(id);
  if (!task) return { kind: 'missing' };
  if (task.status !== 'pending' || (task.owner ?? owner) !== owner) return { kind: 'taken', task };
  const by = openBlockers(task, graph);
  if (by.length > 0) return { kind: 'blocked', by };
  return { kind: 'claimed', task: { ...task, status: 'in_progress', owner } };
}

/** The known ids that are not in the list yet. */
function newIds(graph: TaskGraph, known: readonly string[], added: readonly string[] = []): string[] {
  return [...new Set(added)].filter((id) => graph.has(id) && !known.includes(id));
}

function linked(graph: TaskGraph, id: string, other: string, side: 'blocks' | 'blockedBy'): Task {
  const task = graph.get(id) as Task;
  return task[side].includes(other) ? task : { ...task, [side]: [...task[side], other] };
}

/** The graph with one side of each changed dependency: `blockedBy` decides what is blocked. */
function merged(graph: TaskGraph, others: readonly Task[], task: Task): TaskGraph {
  const next = new Map(graph);
  for (const other of others) {
    const blockedBy = [...new Set([...(next.get(other.id)?.blockedBy ?? []), ...other.blockedBy])];
    next.set(other.id, { ...other, blockedBy });
  }
  const blockedBy = [...new Set([...(next.get(task.id)?.blockedBy ?? []), ...task.blockedBy])];
  return next.set(task.id, { ...task, blockedBy });
}

/** The ids of a cycle that contains the task, which begins and ends with it; undefined if there is none. */
function cycleThrough(id: string, graph: TaskGraph): string[] | undefined {
  /** The task from which each task was reached first. */
  const from = new Map<string, string>();
  const pending = [id];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const blocker of graph.get(at)?.blockedBy ?? []) {
      if (blocker === id) return [...wayTo(at, id, from), id];
      if (from.has(blocker)) continue;
      from.set(blocker, at);
      pending.push(blocker);
    }
  }
  return undefined;
}

function wayTo(end: string, start: string, from: ReadonlyMap<string, string>): string[] {
  const way = [end];
  for (let at = end; at !== start; ) {
    at = from.get(at) as string;
    way.unshift(at);
  }
  return way;
}

function mergeMetadata(
  before: Task['metadata'] = {},
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const members = new Map([...Object.entries(before), ...Object.entries(change)]);
  return Object.fromEntries([...members].filter(([, value]) => value !== null));
}
