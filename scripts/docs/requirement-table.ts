import { globSync, readFileSync } from 'node:fs';
import { ROOT } from '../step.ts';
import { table } from './markdown-table.ts';
import { DECISIONS, REQUIREMENTS, type Requirement } from './requirements.ts';

/** Test files by the requirement or decision that their text cites, e.g. `R45` or `C2`. */
export function readCitations(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const file of globSync('test/**/*.test.ts', { cwd: ROOT }).toSorted()) {
    if (file.startsWith('test/repository/docs/')) continue;
    const numbers = readFileSync(`${ROOT}${file}`, 'utf8').match(/(?<![\w-])[RC]\d{1,3}(?![\w-])/g) ?? [];
    for (const number of new Set(numbers)) cited.set(number, [...(cited.get(number) ?? []), file]);
  }
  return cited;
}

/** A section per area; the tests are found by their citations. */
export function requirementTable(): string {
  const cited = readCitations();
  const sections = Object.entries(REQUIREMENTS).map(([area, rows]) => {
    const lines = Object.entries(rows).map(([id, requirement]) => [
      id,
      requirement[0],
      shownBy(id, requirement, cited),
    ]);
    return `## ${area}\n\n${table(['', 'requirement', 'tests or other evidence'], lines)}`;
  });
  return sections.join('\n\n');
}

export function decisionTable(): string {
  const cited = readCitations();
  const rows = Object.entries(DECISIONS).map(([id, text]) => [id, text, links(cited.get(id) ?? [])]);
  return table(['', 'decision', 'tests'], rows);
}

function shownBy(id: string, [, fate]: Requirement, cited: ReadonlyMap<string, string[]>): string {
  const tests = links(cited.get(id) ?? []);
  if (!fate) return tests;
  const how =
    'decision' in fate
      ? `replaced by decision ${fate.decision}`
      : 'shownBy' in fate
        ? fate.shownBy
        : `**${fate.status}** (${fate.why})`;
  return tests ? `${how}; ${tests}` : how;
}

function links(files: readonly string[]): string {
  return files.map((file) => `\`${file.slice('test/'.length, -'.test.ts'.length)}\``).join(', ');
}
