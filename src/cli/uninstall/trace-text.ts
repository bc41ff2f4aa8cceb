import { many, sized } from '../host/figures.ts';
import { table } from '../host/table.ts';
import type { Traces } from './find-traces.ts';
import type { HomePart } from './home-parts.ts';
import type { Undo } from './undo-file.ts';

/** What goes of all that was found. */
export function goingOf({ content, files }: Traces, keep: 'nothing' | 'settings') {
  return {
    parts: content.parts.filter((it) => keep === 'nothing' || !it.isConfigured),
    files: keep === 'nothing' ? files.filter(({ action }) => action !== 'leave') : [],
  };
}

/** What would go and what would stay, as lines for people. */
export function traceText(
  traces: Traces,
  keep: 'nothing' | 'settings',
  columns: number | undefined,
): string[] {
  const { home, content, files, fault } = traces;
  const going = goingOf(traces, keep);
  const parts = going.parts.map((it) => [it.kind, it.places.join(', '), figures(it)]);
  const left = [
    ...(keep === 'nothing' ? files.flatMap(leftOf) : []),
    ...content.others.map(({ path, why }) => `${path} (${why})`),
  ];
  return [
    ...(parts.length > 0 ? [`${home}:`, ...table(parts, { columns, indent: 2 })] : []),
    ...(going.files.length > 0 ? ['in projects:', ...going.files.flatMap(undoLines)] : []),
    ...(left.length > 0 ? ['stays:', ...left.map((it) => `  ${it}`)] : []),
    ...(fault === undefined ? [] : [`what was written into projects is not known: ${fault}`]),
  ];
}

function figures({ paths, bytes }: HomePart): string {
  return paths.length === 0 ? 'empty' : `${many(paths.length, 'file')}, ${sized(bytes)}`;
}

function undoLines({ path, action, servers, rules, values }: Undo): string[] {
  if (action === 'remove') return [`  ${path}`];
  return [
    ...servers.map((name) => `  ${path}: the server "${name}"`),
    ...[...rules, ...values].map((it) => `  ${path}: ${it}`),
  ];
}

function leftOf({ path, left }: Undo): string[] {
  return left.map(({ what, why }) => `${path}: ${what} (${why})`);
}
