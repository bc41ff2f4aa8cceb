import { nearest } from '../../base/text/nearest.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { WrittenServer } from '../../config/model.ts';
import { NotUnderstood } from '../host/not-understood.ts';

/** Every entry of the name, wherever it stands; the highest first. */
export function entriesOf({ sources }: Pick<Configuration, 'sources'>, name: string): WrittenServer[] {
  return sources.flatMap(({ servers }) => servers.filter((it) => it.name === name)).reverse();
}

/** What is said of a name nobody wrote. */
export function unknownServer({ sources }: Pick<Configuration, 'sources'>, name: string): NotUnderstood {
  const known = [...new Set(sources.flatMap(({ servers }) => servers.map((it) => it.name)))].sort();
  const meant = nearest(name, known);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  const few = known.length <= MOST ? known.join(', ') : `${known.slice(0, MOST).join(', ')} and others`;
  const others = known.length === 0 ? '; toolplane mcp add adds one' : ` (there are ${few})`;
  return new NotUnderstood(`there is no server "${name}"${hint}${others}`);
}

const MOST = 10;
