import { truncate, visibleText } from '../../base/text/display-text.ts';

import type { ConfigDiagnostic, Position } from '../model.ts';

/** One line: where, in the form that editors and terminals open, and what. */
export function formatDiagnostic({ label, position, key, message }: ConfigDiagnostic): string {
  return `${formatPosition(label, position)}: ${key === undefined ? '' : `${key}: `}${message}`;
}

/** `path:line:column`, as far as it is known. */
export function formatPosition(label: string, position?: Position): string {
  return position ? `${label}:${position.line}:${position.column}` : label;
}

/** A way into a file as people write it, such as `mcpServers.github.args` or `connectors[0].url`, on one line. */
export function formatKeyPath(way: readonly (string | number)[]): string {
  return way.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    if (!/^[\w$-]{1,80}$/.test(step)) return `${text}[${quoted(step)}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** Of what is very long, the beginning. */
function quoted(name: string): string {
  return visibleText(JSON.stringify(truncate(name, MAX_KEY_LENGTH)));
}

const MAX_KEY_LENGTH = 80;

/** Nobody reads more about one file. */
const MAX_DIAGNOSTICS = 50;

/**
 * What is wrong with one source, in its order, as many as anybody reads: what keeps an agent from starting and what does
 * not count come before mere warnings, and of all others their number is told.
 */
export function limitDiagnostics(faults: readonly ConfigDiagnostic[]): readonly ConfigDiagnostic[] {
  if (faults.length <= MAX_DIAGNOSTICS) return faults;
  const ranked = faults.toSorted((a, b) => rank(a) - rank(b));
  const chosen = new Set(ranked.slice(0, MAX_DIAGNOSTICS));
  // The worst of those that are left out is the first of them.
  const { scope, label, level, isFatal, key } = ranked[MAX_DIAGNOSTICS] as ConfigDiagnostic;
  const rest: ConfigDiagnostic = {
    level,
    scope,
    label,
    // Of the whole source nothing is said: the others may be in any part of it.
    ...(key !== undefined && { key: '…' }),
    message: `and ${faults.length - MAX_DIAGNOSTICS} more; mend these first`,
    ...(isFatal && { isFatal }),
  };
  return [...faults.filter((fault) => chosen.has(fault)), rest];
}

function rank({ level, isFatal }: ConfigDiagnostic): number {
  if (isFatal) return 0;
  return level === 'error' ? 1 : 2;
}
