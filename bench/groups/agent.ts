import { internals } from '../build.ts';
import { contenders } from '../contenders.ts';
import type { CliFirstTurn, OwnFirstTurn } from '../drivers/first-turn.ts';
import type { LongConversation } from '../drivers/long-conversation.ts';
import type { ManyAgents } from '../drivers/many-agents.ts';
import type { GroupContext } from '../group.ts';
import { median } from '../median.ts';
import { interleave } from '../rounds.ts';
import { compare, limit, type Row } from '../row.ts';

const ROUNDS = { quick: 3, default: 7, full: 11 };
const AGENTS = 200;
const IDLE_AGENTS = { quick: 200, default: 1_000, full: 1_000 };
const TURNS = { quick: 1_000, default: 10_000, full: 10_000 };
const TOOLS = 1_000;

/** The built-in agent compared with the real agent CLI. */
export async function agent(context: GroupContext): Promise<Row[]> {
  return [
    ...(await measureStart(context)),
    ...(await measureRounds(context)),
    ...(await measureMany(context)),
    ...(await measureIdle(context)),
    ...(await measureConversation(context)),
  ];
}

async function measureStart({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const { ours, official } = contenders(packageDir);
  const { own, cli } = await interleave<'own' | 'cli', OwnFirstTurn | CliFirstTurn>(
    ROUNDS[effort],
    {
      own: () => lab.drive<OwnFirstTurn>('first-turn', [ours, 'own']),
      cli: () => lab.drive<CliFirstTurn>('first-turn', [official, 'cli']),
    },
    (round) => progress(`first turn, round ${round} of ${ROUNDS[effort]}`),
  );
  const init = `real CLI, spawn to init: ${median((cli as CliFirstTurn[]).map((it) => it.init)).toFixed(0)}`;
  const figure = (name: keyof OwnFirstTurn) => median((own as OwnFirstTurn[]).map((it) => it[name]));
  return [
    limit('query() to the first model request, warm (ms)', figure('warm'), init, { is: '<=', limit: 10 }),
    limit('a second query() to the first model request (ms)', figure('second'), init, { is: '<=', limit: 2 }),
  ];
}

async function measureRounds({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const { ours, official } = contenders(packageDir);
  const { own, cli, one, many } = await interleave<'own' | 'cli' | 'one' | 'many', number>(
    Math.ceil(ROUNDS[effort] / 2),
    {
      own: () => lab.drive('tool-rounds', [ours, 'own', 1]),
      cli: () => lab.drive('tool-rounds', [official, 'cli', 1]),
      one: () => lab.drive('own-rounds', [ours, 1]),
      many: () => lab.drive('own-rounds', [ours, TOOLS]),
    },
    (round) => progress(`tool rounds, round ${round}`),
  );
  return [
    compare('tool round: model reply to the next request, same endpoint (ms)', median(own), median(cli), {
      is: '<=',
      limit: 0.1,
    }),
    compare('tool round, 1,000 tools against one, scripted model (ms)', median(many), median(one), {
      is: '<=',
      limit: 2,
    }),
  ];
}

async function measureMany({ lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  progress(`${AGENTS} agents`);
  const { ours } = contenders(packageDir);
  const { bytes, failures } = await lab.drive<ManyAgents>('many-agents', [ours, AGENTS, 'with-tool'], {
    nodeArgs: ['--expose-gc'],
  });
  const megabytes = bytes / 1024 / 1024;
  return [
    limit(`${AGENTS} agents at once: heap MB an idle agent`, megabytes, 'none', { is: '<=', limit: 1 }),
    limit(`${AGENTS} agents at once: turns that failed`, failures, 'none', { is: '=', limit: 0 }),
  ];
}

async function measureIdle({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const count = IDLE_AGENTS[effort];
  progress(`${count} idle agents`);
  const { ours } = contenders(packageDir);
  const nodeArgs = ['--expose-gc'];
  const { bytes, failures } = await lab.drive<ManyAgents>('many-agents', [ours, count, 'plain'], {
    nodeArgs,
  });
  if (failures > 0) throw new Error(`${failures} of ${count} agents failed`);
  const name = `${count.toLocaleString('en')} idle agents, each after one stored turn: heap KB an agent`;
  return [limit(name, bytes / 1024, 'none', { is: '<=', limit: 150 })];
}

async function measureConversation({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const turns = TURNS[effort];
  const name = `conversation of ${turns.toLocaleString('en')} turns`;
  progress(name);
  const module = internals(packageDir, 'agent');
  const long = await lab.drive<LongConversation>('long-conversation', [module, turns], {
    nodeArgs: ['--expose-gc'],
  });
  const resumes: number[] = [];
  for (let round = 0; round < ROUNDS[effort]; round++)
    resumes.push(await lab.drive<number>('resume-conversation', [module, long.id]));
  const megabytes = (bytes: number) => bytes / 1024 / 1024;
  const file = `transcript of ${long.transcriptMegabytes.toFixed(0)} MB`;
  return [
    compare(
      `${name}: heap after the last compaction and in the first tenth (MB)`,
      megabytes(long.heapAfter),
      megabytes(long.heapBefore),
      { is: '<=', limit: 1.1 },
    ),
    limit(`${name}: messages in the longest request`, long.messages, `${long.compactions} compactions`, {
      is: '<=',
      limit: 600,
    }),
    compare(`${name}: a turn without the model, second half and turn 10 (ms)`, long.late, long.early, {
      is: '<=',
      limit: 2,
    }),
    limit(`${name}: resume in a new process to the first model request (ms)`, median(resumes), file, {
      is: '<=',
      limit: 300,
    }),
  ];
}
