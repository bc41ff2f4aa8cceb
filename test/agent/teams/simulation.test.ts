import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ModelError, type ModelRequest } from '../../../src/agent/models/model.ts';
import { fails, type MessageReply, text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { TaskList } from '../../../src/agent/task-list/task-list.ts';
import { allow, raw } from '../../support/drive.ts';
import { repositoryWith } from '../tasks/git-repository.ts';

const TASKS = 60;
const KILLS = 20;
const NAMES = ['ada', 'bob', 'cyd', 'dan', 'eve'];
const SEEDS = process.env.TOOLPLANE_LONG_TESTS === '1' ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [1, 2, 3];

/** Numbers from 0 to 1 that depend only on the seed. */
function randomOf(seed: number): () => number {
  let n = 0;
  return () => createHash('sha256').update(`${seed} ${n++}`).digest().readUInt32BE() / 2 ** 32;
}

/** The ids of up to three earlier tasks for each task. */
function graphOf(random: () => number): ReadonlyMap<number, readonly number[]> {
  const ids = Array.from({ length: TASKS }, (_, at) => at + 1);
  return new Map(
    ids.map((id) => {
      const count = id < 8 ? 0 : Math.floor(random() * 4);
      const before = Array.from({ length: count }, () => 1 + Math.floor(random() * (id - 1)));
      return [id, [...new Set(before)]];
    }),
  );
}

const PARTS = ['first', 'second'] as const;

/** The content of a file of a task, made of what its blockers have left in the directory. */
function contentOf(id: number, part: string, blockers: readonly number[], read: (path: string) => string) {
  const parts = blockers.map((blocker) => read(pathOf(blocker, 'second')));
  return `${createHash('sha256').update(`${id} ${part} ${parts.join()}`).digest('hex')}\n`;
}

const pathOf = (id: number, part: string) => `out/${id}/${part}.txt`;

const userTexts = ({ messages }: ModelRequest) =>
  messages.flatMap(({ role, content }) =>
    role === 'user' ? content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : [],
  );

const matches = (texts: readonly string[], pattern: RegExp) =>
  [...texts.join('\n').matchAll(pattern)].map(([, found]) => found ?? '0');

test.each(SEEDS)(
  'a team does every task exactly once although teammates are killed (seed %i)',
  async (seed) => {
    const random = randomOf(seed);
    const graph = graphOf(random);
    const repository = repositoryWith();
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'team-')));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const kills: string[] = [];
    const lost: string[] = [];
    /** The files of a task when its owner was killed. */
    const left = new Map<number, readonly string[]>();
    const begun = new Set<string>();

    const leadReply = (request: ModelRequest, n: number): MessageReply => {
      if (n === 1)
        return together(
          ...[...graph.keys()].map((id) =>
            toolUse('TaskCreate', { subject: `task ${id}`, description: `write out/${id}` }, `create-${id}`),
          ),
        );
      if (n === 2)
        return together(
          ...[...graph].map(([id, blockers]) =>
            toolUse('TaskUpdate', { taskId: `${id}`, addBlockedBy: blockers.map(String) }, `block-${id}`),
          ),
        );
      if (n === 3)
        return together(
          ...NAMES.map((name) =>
            toolUse(
              'Agent',
              { description: `be ${name}`, prompt: 'Join the team.', name, isolation: 'worktree' },
              `start-${name}`,
            ),
          ),
        );
      const last = request.messages.at(-1);
      const texts = last?.role === 'user' ? userTexts({ ...request, messages: [last] }) : [];
      const ended = new Set(
        matches(texts, /<agent-message from="(\w+)">\nThis agent (?:was stopped|has failed)/g),
      );
      if (ended.size === 0) return text('Noted.');
      return together(
        ...[...ended].map((name) =>
          toolUse('SendMessage', { to: name, message: 'Go on.' }, `wake-${n}-${name}`),
        ),
      );
    };

    const { session, send, ask, find, seen } = raw(
      async (request, n) => {
        const texts = userTexts(request);
        const [name] = matches(texts, /You are “(\w+)”/g);
        if (name === undefined) return leadReply(request, ++leadRequests || n);
        const [task = 0] = matches(
          texts,
          /You have claimed task #(\d+)|Task #\d+ is (?:no longer assigned to you|completed\.)/g,
        )
          .slice(-1)
          .map(Number);
        const directory = matches(texts, /The working directory is (\S+?)\.(?:\n|$)/g).at(-1) ?? '';
        if (task === 0) return text('Waiting.');
        const reply = workOn(request, task, directory, `${n}`);
        if (kills.length >= KILLS || random() > 0.12) return reply;
        kills.push(`${name} #${task}`);
        if (random() < 0.4) {
          left.set(task, filesIn(directory, task));
          return fails(new ModelError('bad-request', 'crashed'));
        }
        const id = agentId(name);
        const stopping = () =>
          void session.tasks.stop(id, 'model').then(() => left.set(task, filesIn(directory, task)));
        if (random() < 0.5) stopping();
        else setTimeout(stopping, random() * 60);
        return reply;
      },
      {
        builtIns: ['Agent', 'SendMessage', 'TaskCreate', 'TaskUpdate', 'TaskList', 'Write', 'CompleteTask'],
        rules: allow('Agent', 'Write'),
        teams: true,
        stateDirectory: home,
        lists: { sharedId: 'graph' },
        workspace: { cwd: repository.root, home: '/h', directories: [] },
        shellEnv: { PATH: process.env.PATH, HOME: '/nonexistent' },
      },
    );
    let leadRequests = 0;

    function agentId(name: string): string {
      const teams = seen.filter((frame) => frame.subtype === 'team_changed');
      const mates = (teams.at(-1)?.teammates ?? []) as { name: string; agent_id: string }[];
      return mates.find((it) => it.name === name)?.agent_id ?? '';
    }

    function filesIn(directory: string, task: number): readonly string[] {
      return PARTS.filter((part) => existsSync(join(directory, pathOf(task, part))));
    }

    /** The next step on a task: the first file that is missing, then its completion. */
    function workOn({ messages }: ModelRequest, task: number, directory: string, call: string): MessageReply {
      const last = messages.at(-1);
      const results = last?.content.filter((block) => block.type === 'tool_result') ?? [];
      if (results.some((block) => JSON.stringify(block.content).includes(`Task #${task} completed:`)))
        return text('Done.');
      for (const part of left.get(task) ?? [])
        if (!existsSync(join(directory, pathOf(task, part)))) lost.push(pathOf(task, part));
      left.delete(task);
      begun.add(`${task}`);
      const missing = PARTS.find((part) => !existsSync(join(directory, pathOf(task, part))));
      if (missing === undefined) return toolUse('CompleteTask', {}, `complete-${call}`);
      const read = (path: string) => readFileSync(join(directory, path), 'utf8');
      const content = contentOf(task, missing, graph.get(task) ?? [], read);
      return toolUse(
        'Write',
        { file_path: join(directory, pathOf(task, missing)), content },
        `write-${call}`,
      );
    }

    const list = new TaskList(join(home, 'tasks', 'graph'));
    const reading = find(({ subtype, teammates }) => {
      if (subtype !== 'team_changed') return false;
      const states = (teammates as { state: string }[]).map(({ state }) => state);
      if (states.includes('working')) return false;
      const tasks = [...list.graph().values()];
      return tasks.length === TASKS && tasks.every(({ status }) => status === 'completed');
    });
    await ask('initialize', {});
    await send({
      type: 'user',
      message: { role: 'user', content: 'Do all tasks.' },
      parent_tool_use_id: null,
    });
    await reading;
    session.end();
    await session.done;

    expect(kills).toHaveLength(KILLS);
    expect(lost).toEqual([]);
    expect(begun.size).toBe(TASKS);
    // Exactly one merge per task, and nothing else on the branch.
    const merges = repository.git(['log', '--merges', '--format=%s', 'main']).split('\n');
    const ids = merges.map((line) =>
      Number(/^Merge branch 'worktree-task-[0-9a-f]{8}-(\d+)'$/.exec(line)?.[1]),
    );
    expect(ids.toSorted((a, b) => a - b)).toEqual([...graph.keys()]);
    expect(treeOf(repository.root)).toEqual(expectedTree(graph));
    expect(repository.git(['status', '--porcelain', '--untracked-files=no'])).toBe('');
    expect(repository.worktrees()).toEqual([]);
    expect(repository.branches()).toEqual(['main']);
  },
  // About ten seconds on an idle machine.
  300_000,
);

function treeOf(root: string): Record<string, string> {
  const files = readdirSync(join(root, 'out'), { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(root.length + 1), readFileSync(path, 'utf8')] as const;
      })
      .toSorted(([a], [b]) => a.localeCompare(b)),
  );
}

function expectedTree(graph: ReadonlyMap<number, readonly number[]>): Record<string, string> {
  const files = new Map<string, string>();
  const read = (path: string) => files.get(path) ?? '';
  for (const [id, blockers] of graph)
    for (const part of PARTS) files.set(pathOf(id, part), contentOf(id, part, blockers, read));
  return Object.fromEntries([...files].toSorted(([a], [b]) => a.localeCompare(b)));
}
