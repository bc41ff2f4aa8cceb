import type { ConfigContext } from '../../../config/config-context.ts';
import { maskEntry } from '../../../config/explain/mask-entry.ts';
import type { FoundFile } from '../../../config/import/find-servers.ts';
import { pathLabel } from '../../../config/sources/config-paths.ts';
import { line, type Piece, type Tone } from '../../terminal/render.ts';
import { table } from '../../terminal/table.ts';
import { entryText } from '../entries.ts';
import type { Candidate, Comparison } from './import-decision.ts';
import type { Stored } from './store.ts';

/** A server and the result of importing it. */
export type Row = {
  readonly candidate: Candidate;
  readonly done: Stored | { readonly kind: 'left'; readonly why: string };
};

/** The servers that were found: a table below each file. */
export function foundPieces(
  found: readonly FoundFile[],
  candidates: readonly Candidate[],
  context: ConfigContext,
  columns: number | undefined,
): Piece[] {
  const files = found.filter(({ servers }) => servers.length > 0);
  return files.flatMap(({ tool, place }, at) => {
    const its = candidates.filter((it) => it.path === place.path && it.source === tool.id);
    const rows = table(
      its.map(({ server, comparison }) => [
        server.name,
        formatComparison(comparison, server.isOff),
        entryText(server.entry),
      ]),
      { columns, indent: 2 },
    );
    return [
      ...(at > 0 ? [line('')] : []),
      line([tool.title, 'strong'], ` (${tool.id})  ${pathLabel(place.path, context)}`),
      ...its.flatMap(({ server, comparison }, index) => [
        line([rows[index] ?? '', TONES[comparison.kind]]),
        ...server.notes.map((note) => line([`    ${note}`, 'dim'])),
      ]),
    ];
  });
}

const TONES: Readonly<Record<Comparison['kind'], Tone>> = {
  new: 'plain',
  there: 'dim',
  differs: 'warn',
  twin: 'dim',
  clash: 'warn',
};

function formatComparison(comparison: Comparison, isOff: boolean): string {
  const off = isOff ? ', disabled in that program' : '';
  switch (comparison.kind) {
    case 'new':
      return `new${off}${alsoText(comparison)}`;
    case 'there':
      return `already configured: ${comparison.where}`;
    case 'differs':
      return `differs from ${comparison.where}${off}`;
    case 'twin':
      return `same as ${comparison.where}`;
    case 'clash':
      return `name taken by ${comparison.where}`;
  }
}

function alsoText({ also }: { readonly also?: string }): string {
  return also === undefined ? '' : ` (also in this project: ${also})`;
}

/** The results, one line each; with the entry, unless it was shown before. */
export function donePieces(
  rows: readonly Row[],
  { writes, isShown }: { readonly writes: boolean; readonly isShown: boolean },
): Piece[] {
  return rows.flatMap(({ candidate: { server, title, comparison }, done }) => {
    if (done.kind === 'left')
      return [line(['– ', 'dim'], server.name, [` from ${title}: ${done.why}`, 'dim'])];
    if (done.kind === 'failed') return [line(['✗ ', 'bad'], server.name, ` from ${title}: ${done.why}`)];
    const verb = done.hadOne ? 'replaced' : 'written';
    const what = writes ? verb : `would be ${verb}`;
    const secrets = done.secrets.length > 0 ? `, with secrets ${done.secrets.join(', ')}` : '';
    const entry = isShown
      ? ''
      : `: ${entryText(server.entry)}${comparison.kind === 'new' ? alsoText(comparison) : ''}`;
    return [
      line(['✓ ', 'good'], server.name, ` from ${title}: ${what}${secrets}${entry}`),
      ...(isShown ? [] : server.notes.map((note) => line([`    ${note}`, 'dim']))),
    ];
  });
}

/** The result as JSON, without values that may be secret. */
export function rowDocument({ candidate, done }: Row, writes: boolean): object {
  const { source, path, isOfProject, server, comparison } = candidate;
  const { kind, ...where } = comparison;
  return {
    source,
    file: path,
    from: server.from,
    ofProject: isOfProject,
    name: server.name,
    entry: maskEntry(server.entry),
    comparison: kind,
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
