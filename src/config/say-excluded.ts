import type { Configuration } from './configuration.ts';
import { placeText } from './fault-text.ts';
import { rulingSource } from './merge/standing.ts';

/** What a managed file excludes, a line each: the servers that were given for this very run, and how many others. */
export function sayExcluded({ merged, sources }: Pick<Configuration, 'merged' | 'sources'>): string[] {
  const managed = rulingSource(sources)?.label;
  if (managed === undefined) return [];
  const excluded = [...merged.servers.flatMap(({ lost }) => lost), ...merged.lost].flatMap(
    ({ written, why }) => (why === 'managed' ? [written] : []),
  );
  const given = excluded.filter(({ scope }) => scope === 'program');
  const others = new Set(excluded.filter(({ scope }) => scope !== 'program').map(({ name }) => name));
  return [
    ...given.map(
      ({ name, label, position }) =>
        `server "${name}" of ${placeText(label, position)} was not started: ${managed} excludes all servers but its own`,
    ),
    ...(others.size > 0 ? [othersText(managed, others.size)] : []),
  ];
}

function othersText(managed: string, count: number): string {
  const servers = count === 1 ? 'one server that is' : `${count} servers that are`;
  return `${managed} excludes ${servers} configured elsewhere: run toolplane mcp list to see more`;
}
