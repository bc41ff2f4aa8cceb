import { shellWord } from '../../base/shell-word.ts';
import type { Configuration } from '../configuration.ts';
import { faultText } from '../fault-text.ts';
import { nameFault } from '../sources/server-name.ts';
import type { ServerExplanation } from './explanation.ts';
import { nearNames } from './resolve-tool.ts';
import { sourceRows } from './source-rows.ts';

/** Nobody wrote the name where it was looked for: what may be meant, and which file may hide it. */
export function explainUnknown(configuration: Configuration, name: string): ServerExplanation {
  const near = nearNames(configuration, name);
  const hiding = hidingFaults(configuration);
  const [first] = near;
  const guess = first === undefined ? '' : `; did you mean "${first}"?`;
  const hidden = hiding.length === 0 ? '' : `; it may stand in what cannot be read: ${hiding[0]}`;
  return {
    kind: 'server',
    name,
    answer: Object.hasOwn(configuration.program, name)
      ? `"${name}" is a server in the program itself, and stands in no file.`
      : `There is no server "${name}" here${first === undefined ? hidden : guess}${first === undefined ? '.' : ''}`,
    standing: 'unknown',
    verdict: 'unknown',
    sources: sourceRows(configuration, name, { lost: [] }),
    lost: [],
    settled: [],
    expansion: [],
    policy: { allows: true, says: 'nobody asked' },
    approval: { isNeeded: false, says: 'nobody asked' },
    connection: 'not asked',
    timeouts: [],
    faults: hiding,
    next: [
      ...near.map((other) => `toolplane explain server ${shellWord(other)}`),
      ...hiding.map((fault) => `mend ${fault}`),
      ...(configuration.wanted.scopes ? [UNREAD] : []),
      'see all: toolplane mcp list',
      ...(nameFault(name) === undefined ? [`add it: toolplane mcp add ${shellWord(name)} -- <command>`] : []),
    ],
  };
}

const UNREAD = 'look without --setting-sources, which leaves the files of other scopes unread';

/** What is wrong with whole files: a server may stand in what could not be read. */
function hidingFaults({ sources, faults }: Pick<Configuration, 'sources' | 'faults'>): string[] {
  const unusable = sources.filter(({ state }) => state === 'unusable').flatMap((it) => it.faults);
  const ofFiles = faults.filter(
    ({ level, key }) => level === 'error' && (key === undefined || !key.includes('.')),
  );
  return [...new Set([...unusable, ...ofFiles].map(faultText))];
}
