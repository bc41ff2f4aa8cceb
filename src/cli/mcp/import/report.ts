import type { ConfigWorld } from '../../../config/config-context.ts';
import { maskEntry } from '../../../config/explain/mask-entry.ts';
import type { FoundFile } from '../../../config/import/find-servers.ts';
import { pathLabel } from '../../../config/sources/config-paths.ts';
import { line, type Piece, type Tone } from '../../terminal/render.ts';
import { table } from '../../terminal/table.ts';
import { entryText } from '../entries.ts';
import type { Candidate, Standing } from './candidate.ts';
import type { Stored } from './store.ts';

/** A server and what was done with it. */
export type Row = {
  readonly candidate: Candidate;
  readonly done: Stored | { readonly kind: 'left'; readonly why: string };
};

/** What was found where, before anything is done: a table below each file. */
export function foundPieces(
  found: readonly FoundFile[],
  candidates: readonly Candidate[],
  world: ConfigWorld,
  columns: number | undefined,
): Piece[] {
  const files = found.filter(({ servers }) => servers.length > 0);
  return files.flatMap(({ tool, place }, at) => {
    const its = candidates.filter((it) => it.path === place.path && it.source === tool.id);
    const rows = table(
      its.map(({ server, standing }) => [
        server.name,
        standingText(standing, server.isOff),
        entryText(server.entry),
      ]),
      { columns, indent: 2 },
    );
    return [
      ...(at > 0 ? [line('')] : []),
      line([tool.title, 'strong'], ` (${tool.id})  ${pathLabel(place.path, world)}`),
      ...its.flatMap(({ server, standing }, index) => [
        line([rows[index] ?? '', TONES[standing.kind]]),
        ...server.notes.map((note) => line([`    ${note}`, 'dim'])),
      ]),
    ];
  });
}

const TONES: Readonly<Record<Standing['kind'], Tone>> = {
  new: 'plain',
  there: 'dim',
  differs: 'warn',
  twin: 'dim',
  clash: 'warn',
};

function standingText(standing: Standing, isOff: boolean): string {
  const off = isOff ? ', turned off there' : '';
  switch (standing.kind) {
    case 'new':
      return `new${off}${alsoText(standing)}`;
    case 'there':
      return `already there: ${standing.where}`;
    case 'differs':
      return `differs from ${standing.where}${off}`;
    case 'twin':
      return `same as ${standing.where}`;
    case 'clash':
      return `name taken by ${standing.where}`;
  }
}

function alsoText({ also }: { readonly also?: string }): string {
  return also === undefined ? '' : ` (this project has it too: ${also})`;
}

/** What was done, a line each; with what it is, unless that was shown before. */
export function donePieces(
  rows: readonly Row[],
  { writes, isShown }: { readonly writes: boolean; readonly isShown: boolean },
): Piece[] {
  return rows.flatMap(({ candidate: { server, title, standing }, done }) => {
    if (done.kind === 'left') return [line(['– ', 'dim'], server.name, [` of ${title}: ${done.why}`, 'dim'])];
    if (done.kind === 'failed') return [line(['✗ ', 'bad'], server.name, ` of ${title}: ${done.why}`)];
    const verb = done.hadOne ? 'replace' : 'write';
    const what = writes ? (done.hadOne ? 'replaced' : 'written') : `would ${verb} it`;
    const secrets = done.secrets.length > 0 ? `, with secrets ${done.secrets.join(', ')}` : '';
    const entry = isShown
      ? ''
      : `: ${entryText(server.entry)}${standing.kind === 'new' ? alsoText(standing) : ''}`;
    return [
      line(['✓ ', 'good'], server.name, ` of ${title}: ${what}${secrets}${entry}`),
      ...(isShown ? [] : server.notes.map((note) => line([`    ${note}`, 'dim']))),
    ];
  });
}

/** The same for programs; values that may be secret are not in it. */
export function rowDocument({ candidate, done }: Row, writes: boolean): object {
  const { source, path, isOfProject, server, standing } = candidate;
  const { kind, ...where } = standing;
  return {
    source,
    file: path,
    from: server.from,
    ofProject: isOfProject,
    name: server.name,
    entry: maskEntry(server.entry),
    standing: kind,
    ...('where' in where && { where: where.where }),
    ...('also' in where && { also: where.also }),
    off: server.isOff,
    notes: server.notes,
    ...actionOf(done, writes),
  };
}

function actionOf(done: Row['done'], writes: boolean): object {
  if (done.kind !== 'written') return { action: done.kind, why: done.why };
  const action = done.hadOne ? (writes ? 'replaced' : 'would-replace') : writes ? 'written' : 'would-write';
  return { action, secrets: done.secrets, literal: done.literal };
}
