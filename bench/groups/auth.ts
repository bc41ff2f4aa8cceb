import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GroupContext } from '../group.ts';
import { median } from '../median.ts';
import { interleave } from '../rounds.ts';
import { limit, type Row } from '../row.ts';

const ROUNDS = { quick: 60, default: 200, full: 500 };
const WARM_UP = 30;

/** What a stored access token adds to the first call of a host. */
export async function auth({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const module = pathToFileURL(join(packageDir, 'dist/entry/host.js')).href;
  await using driver = lab.converse<number>('authorized-call', [module]);
  const contenders = { authorized: () => driver.ask(true), unauthorized: () => driver.ask(false) };
  progress('first authorized call');
  await interleave(WARM_UP, contenders, () => {});
  const { authorized, unauthorized } = await interleave(ROUNDS[effort], contenders, () => {});
  const [ours, without] = [median(authorized), median(unauthorized)];
  const beside = `${ours.toFixed(2)} ms with, ${without.toFixed(2)} ms without`;
  const name = 'first call with a stored token, added time (ms)';
  return [limit(name, ours - without, beside, { is: '<=', limit: 1 })];
}
