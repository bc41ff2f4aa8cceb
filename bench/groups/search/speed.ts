import { internals } from '../../build.ts';
import type { SearchReport, SearchTask } from '../../drivers/search-tools.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { limit, type Row } from '../../row.ts';

const SEARCHES = { quick: 100, default: 300, full: 1000 };

/** Search time, memory of the index, and the longest block of the event loop while it is built. */
export async function measureSpeed({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const module = internals(packageDir, 'pool');
  const drive = (tools: number) => {
    progress(`${tools} tools`);
    const task: SearchTask = { tools, searches: SEARCHES[effort] };
    return lab.drive<SearchReport>('search-tools', [module, task], { nodeArgs: ['--expose-gc'] });
  };
  const few = await drive(1000);
  const many = await drive(10_000);
  const built = `index built in ${Math.round(many.indexMs)} ms`;
  return [
    limit('search p50, 1,000 tools (ms)', median(few.searches), '', { is: '<=', limit: 1 }),
    limit('search p50, 10,000 tools (ms)', median(many.searches), '', { is: '<=', limit: 10 }),
    limit('search index, 10,000 tools, heap and buffers (MB)', many.bytes / 1e6, '', { is: '<=', limit: 20 }),
    limit('search index, 10,000 tools, longest event loop block (ms)', many.longestWait, built, {
      is: '<=',
      limit: 50,
    }),
  ];
}
