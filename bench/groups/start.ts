import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentStart } from '../drivers/agent-process.ts';
import type { GroupContext } from '../group.ts';
import { ROOT } from '../lab.ts';
import { median } from '../median.ts';
import { interleave } from '../rounds.ts';
import { compare, type Row } from '../row.ts';

const ROUNDS = { quick: 5, default: 21, full: 31 };

/** Start times of a new process: importing the package, running the command, and starting the agent. */
export async function start(context: GroupContext): Promise<Row[]> {
  return [
    ...(await measureImport(context)),
    ...(await measureCommandLine(context)),
    ...(await measureAgentProcess(context)),
  ];
}

type Importing = { inside: number; process: number };

async function measureImport({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const importing = (specifier: string, cwd: string) => async (): Promise<Importing> => {
    const since = performance.now();
    const inside = await lab.run([timedImport(specifier)], { nodeArgs: ['--input-type=module', '-e'], cwd });
    return { inside: Number(inside), process: performance.now() - since };
  };
  const { ours, official } = await interleave<'ours' | 'official', Importing>(
    ROUNDS[effort],
    {
      ours: importing('toolplane', packageDir),
      official: importing('@anthropic-ai/claude-agent-sdk', join(ROOT, 'interop')),
    },
    (round) => progress(`import, round ${round} of ${ROUNDS[effort]}`),
  );
  const row = (name: string, figure: keyof Importing) =>
    compare(name, median(ours.map((it) => it[figure])), median(official.map((it) => it[figure])), {
      is: '<=',
      limit: 0.8,
    });
  return [
    row('import of the package (ms)', 'inside'),
    row('import of the package, whole process (ms)', 'process'),
  ];
}

function timedImport(specifier: string): string {
  return `const since = performance.now(); await import('${specifier}'); console.log(performance.now() - since);`;
}

async function measureCommandLine(context: GroupContext): Promise<Row[]> {
  const { effort, lab, packageDir, progress, note } = context;
  const cli = join(packageDir, 'dist/cli/main.js');
  if (!existsSync(cli)) {
    note('toolplane --version: not measured, the build has no dist/cli/main.js');
    return [];
  }
  const { ours, node } = await interleave<'ours' | 'node', number>(
    ROUNDS[effort],
    { ours: () => lab.time([cli, '--version']), node: () => lab.time(['-e', '0']) },
    (round) => progress(`command line, round ${round} of ${ROUNDS[effort]}`),
  );
  return [
    compare('toolplane --version against node -e 0 (ms)', median(ours), median(node), {
      is: '<=',
      limit: 1.5,
    }),
  ];
}

/** The agent process compared with the real CLI; each has started once before in its home directory. */
async function measureAgentProcess({
  effort,
  lab,
  packageDir,
  progress,
  note,
}: GroupContext): Promise<Row[]> {
  const command = [process.execPath, join(packageDir, 'dist/cli/main.js'), 'agent'];
  await using ours = lab.converse<AgentStart>('agent-process', [command]);
  await using cli = lab.converse<AgentStart>('agent-process', ['cli']);
  for (const agent of [ours, cli]) await agent.ask('warm up');
  const starts = await interleave<'ours' | 'cli', AgentStart>(
    ROUNDS[effort],
    { ours: () => ours.ask('start'), cli: () => cli.ask('start') },
    (round) => progress(`agent process, round ${round} of ${ROUNDS[effort]}`),
  );
  const figure = (name: keyof AgentStart) =>
    [starts.ours, starts.cli].map((all) => median(all.map((it) => it[name] ?? Number.NaN))) as [
      number,
      number,
    ];
  const half = { is: '<=', limit: 0.5 } as const;
  const rows = [
    compare('toolplane agent, spawn to initialize answered, real CLI (ms)', ...figure('ms'), half),
  ];
  if (starts.ours[0]?.memory === undefined)
    note('memory of the agent process: not measured, there is no /proc');
  else
    rows.push(
      compare('toolplane agent, resident memory after initialize, real CLI (MB)', ...figure('memory'), half),
    );
  return rows;
}
