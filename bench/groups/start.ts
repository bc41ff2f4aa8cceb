import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GroupContext } from '../group.ts';
import { ROOT } from '../lab.ts';
import { median } from '../median.ts';
import { interleave } from '../rounds.ts';
import { compare, type Row } from '../row.ts';

const ROUNDS = { quick: 5, default: 21, full: 31 };

/** How long a fresh process waits for the package, and for the command line. */
export async function start(context: GroupContext): Promise<Row[]> {
  return [...(await measureImport(context)), ...(await measureCommandLine(context))];
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
