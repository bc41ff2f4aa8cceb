import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { diagnosticAt } from '../files/diagnostics.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { managedSource } from './eligibility.ts';
import {
  allMatch,
  anyMatch,
  helperOf,
  type Match,
  matchAllowed,
  matchDenied,
  matchDirectory,
  matchHelper,
  ownKind,
  type PolicyRow,
  type PolicySubject,
  readPolicyRow,
  setsHostHeader,
  unlistedVariable,
} from './policy-row.ts';

/** The decision about a server. `undecided`: it depends on the values of `${…}` and is made when the server is started. */
export type PolicyDecision =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'forbidden'; readonly rule: string; readonly row?: ForbiddingRow }
  | { readonly kind: 'undecided' };

/** The row of a deny list that forbids a server. */
export type ForbiddingRow = { readonly key: string; readonly index: number; readonly label: string };

/** The administrator's policy for servers. */
export type Policy = {
  /** Decides about an entry as written, without the values of `${…}`. */
  judge(name: string, entry: ExternalServerEntry): PolicyDecision;
  /**
   * Decides about an entry with its variables substituted: the rule that forbids it, such as
   * `deniedMcpServers[0] of /etc/toolplane/managed-settings.json`, or undefined.
   */
  forbids(name: string, entry: ExternalServerEntry): string | undefined;
  /** Equal keys mean equal decisions. */
  readonly key: string;
};

/**
 * Combines the lists of all managed settings: one deny list is enough to deny, and every allow list must allow. If an
 * allow list has commands, a stdio server must match one of them; if it has URLs, any other server must match one;
 * otherwise the name decides, and an empty list allows nothing. A list with commands must also contain the
 * `headersHelper` of a server. An entry whose `cwd` or variables may change what its command runs does not match that
 * command. An invalid row or list, or one of the `unread` settings, forbids everything.
 */
export function readPolicy(
  managed: readonly SettingsSource[],
  unread: readonly string[] = [],
): { readonly policy: Policy; readonly faults: readonly ConfigDiagnostic[] } {
  const lists = managed.flatMap((source) =>
    LISTS.map((key) => readList(source, key)).filter((it) => it !== undefined),
  );
  const unreadable = [...unread, ...lists.flatMap(({ unreadable }) => unreadable)][0];
  const judge = (judged: PolicySubject): PolicyDecision => {
    if (unreadable !== undefined) return { kind: 'forbidden', rule: `the unreadable ${unreadable}` };
    const context = lists.map((list) =>
      list.key === 'deniedMcpServers' ? denial(list, judged) : allowance(list, judged),
    );
    return (
      context.find(({ kind }) => kind === 'forbidden') ??
      context.find(({ kind }) => kind === 'undecided') ?? { kind: 'allowed' }
    );
  };
  const policy: Policy = {
    judge: (name, entry) => judge({ name, entry, stage: 'written' }),
    forbids(name, entry) {
      const last = judge({ name, entry, stage: 'expanded' });
      return last.kind === 'forbidden' ? last.rule : undefined;
    },
    key: JSON.stringify([unreadable ?? null, lists.map(({ key, label, rows }) => [key, label, rows])]),
  };
  return { policy, faults: lists.flatMap(({ faults }) => faults) };
}

const LISTS = ['deniedMcpServers', 'allowedMcpServers'] as const;

type List = {
  readonly key: (typeof LISTS)[number];
  readonly label: string;
  readonly rows: readonly PolicyRow[];
  /** Its invalid parts, such as `deniedMcpServers[1] of …`. */
  readonly unreadable: readonly string[];
  readonly faults: readonly ConfigDiagnostic[];
};

function denial({ key, label, rows }: List, judged: PolicySubject): PolicyDecision {
  const matches = rows.map((row) => matchDenied(row, judged));
  const denied = matches.indexOf('yes');
  if (denied >= 0) {
    const rule = `${key}[${denied}] of ${label}`;
    return { kind: 'forbidden', rule, row: { key, index: denied, label } };
  }
  return { kind: matches.includes('maybe') ? 'undecided' : 'allowed' };
}

/** Why the working directory of an entry does not fit the rows that allow its command. */
function directoryFault({ entry }: PolicySubject, rows: readonly PolicyRow[]): string {
  if (!('cwd' in entry) || entry.cwd === undefined)
    return 'the matching row of allowedMcpServers requires a "cwd"; set "cwd" of the entry to the directory in that row';
  return rows.some((row) => row.by === 'serverCommand' && row.cwd !== undefined)
    ? 'the "cwd" of the entry is not the "cwd" in the matching row of allowedMcpServers; use the same directory in both'
    : 'the "cwd" of the entry may change what its command runs; add the directory as "cwd" to the matching row of allowedMcpServers';
}

function allowance({ key, label, rows }: List, judged: PolicySubject): PolicyDecision {
  const own = rows.filter(({ by }) => by === ownKind(judged));
  // If the list has commands or URLs, a name must not bypass them.
  const relevant = own.length > 0 ? own : rows.filter(({ by }) => by === 'serverName');
  const named = relevant.filter((row) => matchAllowed(row, judged) !== 'no');
  const forbidden = (why = '') => ({ kind: 'forbidden', rule: `${key} of ${label}${why}` }) as const;
  if (named.length === 0) return forbidden();
  const placed = named.filter((row) => row.by !== 'serverCommand' || matchDirectory(row, judged) !== 'no');
  if (placed.length === 0) return forbidden(` (${directoryFault(judged, named)})`);
  const variables = placed.map((row) =>
    row.by === 'serverCommand' ? unlistedVariable(judged.entry, row.env) : undefined,
  );
  const fitting = placed.filter((_, at) => variables[at] === undefined);
  if (fitting.length === 0)
    return forbidden(
      ` (the entry sets ${variables[0]}, which may change what its command runs; add the variable to "env" in the matching row of allowedMcpServers)`,
    );
  if (own.length > 0 && setsHostHeader(judged.entry))
    return forbidden(' (the "headers" of the entry set Host, which may route requests to another server)');
  const matches = fitting.map((row) =>
    row.by === 'serverCommand'
      ? allMatch([matchAllowed(row, judged), matchDirectory(row, judged)])
      : matchAllowed(row, judged),
  );
  const helped = helperAllowance(rows, judged);
  if (helped === 'no')
    return forbidden(
      ' (the "headersHelper" of the entry is a command that is not listed; add it as "serverCommand" in a row of allowedMcpServers)',
    );
  return { kind: matches.includes('yes') && helped === 'yes' ? 'allowed' : 'undecided' };
}

/** A list with commands also applies to the commands of `headersHelper`. */
function helperAllowance(rows: readonly PolicyRow[], judged: PolicySubject): Match {
  const commands = rows.filter((row) => row.by === 'serverCommand');
  if (commands.length === 0 || helperOf(judged.entry) === undefined) return 'yes';
  return anyMatch(commands.map(({ argv }) => matchHelper(argv, judged)));
}

function readList(source: SettingsSource, key: List['key']): List | undefined {
  const { label, value } = source;
  if (!Object.hasOwn(value, key) || value[key] === undefined) return undefined;
  const raw: unknown = value[key];
  if (!Array.isArray(raw)) {
    const fault = diagnosticAt(
      source,
      [key],
      `must be a list of rows such as { "serverName": "docs" }; ${UNTIL_FIXED}`,
    );
    return { key, label, rows: [], unreadable: [`${key} of ${label}`], faults: [fault] };
  }
  const [rows, unreadable, faults]: [PolicyRow[], string[], ConfigDiagnostic[]] = [[], [], []];
  for (const [index, written] of raw.entries()) {
    const row = readPolicyRow(written);
    if (row.by === 'nothing') {
      unreadable.push(`${key}[${index}] of ${label}`);
      faults.push(diagnosticAt(source, [key, index], `${row.fault}; ${UNTIL_FIXED}`));
      continue;
    }
    rows.push(row);
    if (key === 'allowedMcpServers' && row.by === 'serverUrl' && row.pattern.path === undefined)
      faults.push(diagnosticAt(source, [key, index], ONLY_ROOT, 'warning'));
  }
  return { key, label, rows, unreadable, faults };
}

const UNTIL_FIXED = 'no server may be used until this is fixed';
const ONLY_ROOT = 'allows only the path /; end the pattern with /* to allow all paths';

/** The managed part of a configuration. */
type Rule = { readonly policy: Pick<Policy, 'key'>; readonly sources: readonly Source[] };

/**
 * The running servers that a changed policy forbids. Merging does not find all of them: a decision may need the values of
 * variables, and servers that are not configured may run too. `mayDial` decides about an entry with its variables
 * substituted.
 */
export function newlyForbidden<T>(
  before: Rule,
  now: Rule,
  running: Iterable<readonly [name: string, entry: T]>,
  mayDial: (name: string, entry: T) => boolean,
): string[] {
  if (keyOf(before) === keyOf(now)) return [];
  return [...running].filter(([name, entry]) => !mayDial(name, entry)).map(([name]) => name);
}

function keyOf({ policy, sources }: Rule): string {
  return JSON.stringify([policy.key, managedSource(sources)?.label ?? null]);
}
