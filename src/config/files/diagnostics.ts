import { pluralize, truncate, visibleText } from '../../base/text/display-text.ts';
import type { ConfigDiagnostic, Position, Scope } from '../model.ts';

/** A source that a diagnostic is about, and the positions of its values. */
export type DiagnosticSource = {
  readonly scope: Scope;
  readonly label: string;
  locate(path: readonly (string | number)[]): Position | undefined;
};

/** A diagnostic about the value at `path`; a missing value has the position of the nearest enclosing one. */
export function diagnosticAt(
  { scope, label, locate }: DiagnosticSource,
  path: readonly (string | number)[],
  message: string,
  level: ConfigDiagnostic['level'] = 'error',
): ConfigDiagnostic {
  let position = locate(path);
  for (let length = path.length - 1; !position && length > 0; length--)
    position = locate(path.slice(0, length));
  const key = path.length > 0 && { key: formatKeyPath(path) };
  return { level, scope, label, ...key, ...(position && { position }), message };
}

/** One line: the position in the form that editors and terminals open, and the problem. */
export function formatDiagnostic({ label, position, key, message }: ConfigDiagnostic): string {
  return `${formatPosition(label, position)}: ${key === undefined ? '' : `${key}: `}${message}`;
}

/** `path:line:column`, or only the path if the position is unknown. */
export function formatPosition(label: string, position?: Position): string {
  return position ? `${label}:${position.line}:${position.column}` : label;
}

/** A key path as text on one line, such as `mcpServers.github.args` or `connectors[0].url`. */
export function formatKeyPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    if (!/^[\w$-]{1,80}$/.test(step)) return `${text}[${quoted(step)}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

function quoted(name: string): string {
  return visibleText(JSON.stringify(truncate(name, MAX_KEY_LENGTH)));
}

const MAX_KEY_LENGTH = 80;

/** Maximum number of diagnostics per source. */
const MAX_DIAGNOSTICS = 50;

/**
 * Limits the diagnostics of one source: fatal ones and errors are kept before warnings, in the order of the source, and
 * a last one gives the number of those left out.
 */
export function limitDiagnostics(faults: readonly ConfigDiagnostic[]): readonly ConfigDiagnostic[] {
  if (faults.length <= MAX_DIAGNOSTICS) return faults;
  const ranked = faults.toSorted((a, b) => rank(a) - rank(b));
  const chosen = new Set(ranked.slice(0, MAX_DIAGNOSTICS));
  // The first one that is left out is the most severe of them.
  const { scope, label, level, isFatal, key } = ranked[MAX_DIAGNOSTICS] as ConfigDiagnostic;
  const rest: ConfigDiagnostic = {
    level,
    scope,
    label,
    // Without a key the diagnostic would be about the whole source.
    ...(key !== undefined && { key: '…' }),
    message: `and ${pluralize(faults.length - MAX_DIAGNOSTICS, 'more problem')} not listed here; fix the listed problems first`,
    ...(isFatal && { isFatal }),
  };
  return [...faults.filter((fault) => chosen.has(fault)), rest];
}

function rank({ level, isFatal }: ConfigDiagnostic): number {
  if (isFatal) return 0;
  return level === 'error' ? 1 : 2;
}
