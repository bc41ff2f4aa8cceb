import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { internals } from '../../build.ts';
import type { FindReport, FindTask } from '../../drivers/find-tools.ts';
import type { GroupContext } from '../../group.ts';
import { ROOT } from '../../lab.ts';
import { limit, type Row } from '../../row.ts';

const CATALOGUE = join(ROOT, 'data/tool-catalogue');
const OWN = [join(CATALOGUE, 'queries.json'), join(CATALOGUE, 'unseen-queries.json')];

/** How often an expected tool is among the first results, and the token cost of the first five. */
export async function measureFinding({ lab, packageDir, progress, queries }: GroupContext): Promise<Row[]> {
  const files = queries === undefined ? OWN.filter((file) => existsSync(file)) : [queries];
  const rows: Row[] = [];
  for (const file of files) {
    progress(`queries of ${basename(file)}`);
    const module = internals(packageDir, 'pool');
    const report = await lab.drive<FindReport>('find-tools', [module, { file } satisfies FindTask]);
    for (const { kind, count, at5, at10 } of report.kinds) {
      progress(
        `${kind}: ${percent(at5 / count)} among five, ${percent(at10 / count)} among ten, of ${count}`,
      );
    }
    const queried = `${report.count} queries of ${basename(file)}`;
    const over = `${report.tools} tools`;
    rows.push(
      limit(`search recall@5, ${queried}`, report.at5 / report.count, over, { is: '>=', limit: 0.55 }),
      limit(`search recall@10, ${queried}`, report.at10 / report.count, over, { is: '>=', limit: 0.6 }),
      limit(
        `tokens sent with one search and five tools, ${queried}, mean`,
        report.sent.mean,
        report.sent.all,
        SHARE,
      ),
      limit(
        `tokens sent with one search and five tools, ${queried}, most`,
        report.sent.most,
        report.sent.all,
        SHARE,
      ),
    );
  }
  return rows;
}

/** Share of the tokens of all definitions. */
const SHARE = { is: '<=', limit: 0.05 } as const;

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
