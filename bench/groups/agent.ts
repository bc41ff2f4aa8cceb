import { contenders } from '../contenders.ts';
import type { CliFirstTurn, OwnFirstTurn } from '../drivers/first-turn.ts';
import type { ManyAgents } from '../drivers/many-agents.ts';
import type { GroupContext } from '../group.ts';
import { median } from '../median.ts';
import { interleave } from '../rounds.ts';
import { compare, limit, type Row } from '../row.ts';

const ROUNDS = { quick: 3, default: 7, full: 11 };
const AGENTS = 200;
const TOOLS = 1_000;

/** The built-in agent compared with the real agent CLI. */
export async function agent(context: GroupContext): Promise<Row[]> {
  return [
    ...(await measureStart(context)),
    ...(await measureRounds(context)),
    ...(await measureMany(context)),
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
  const { bytes, failures } = await lab.drive<ManyAgents>('many-agents', [ours, AGENTS], {
    nodeArgs: ['--expose-gc'],
  });
  const megabytes = bytes / 1024 / 1024;
  return [
    limit(`${AGENTS} agents at once: heap MB an idle agent`, megabytes, 'none', { is: '<=', limit: 1 }),
    limit(`${AGENTS} agents at once: turns that failed`, failures, 'none', { is: '=', limit: 0 }),
  ];
}
