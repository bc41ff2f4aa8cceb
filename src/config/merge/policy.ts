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

/** What the policy says of a server. `undecided`: it depends on what is put in for `${…}`; ask again when it is dialled. */
export type PolicyDecision =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'forbidden'; readonly rule: string; readonly row?: ForbiddingRow }
  | { readonly kind: 'undecided' };

/** The row of a deny list that forbids a server. */
export type ForbiddingRow = { readonly key: string; readonly index: number; readonly label: string };

/** Which servers those who run the machine let anybody use. */
export type Policy = {
  /** Of an entry as written: what is known without what is put in for `${…}`. */
  judge(name: string, entry: ExternalServerEntry): PolicyDecision;
  /**
   * The last word, of an entry as it is dialled: why it may not be used, such as
   * `deniedMcpServers[0] of /etc/toolplane/managed-settings.json`; undefined if it may.
   */
  forbids(name: string, entry: ExternalServerEntry): string | undefined;
  /** A text to compare: as long as it is the same, so is every answer. */
  readonly key: string;
};

/**
 * The lists of all managed settings together: one that denies is enough, and every allow list must allow. In an allow
 * list with commands a stdio server must match one of them, in one with addresses any other server; else the name
 * decides, and an empty one allows nobody. A list with commands must also name the `headersHelper` of a server, which is
 * one, and no command is the listed one if its entry sets a `cwd` or variables that may have it run something else. What cannot be read forbids everything:
 * a row, a list, or the settings named in `unread`.
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
  /** What of it cannot be read, such as `deniedMcpServers[1] of …`. */
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

function allowance({ key, label, rows }: List, judged: PolicySubject): PolicyDecision {
  const own = rows.filter(({ by }) => by === ownKind(judged));
  // Whoever lists commands does not want a name to be a way around them; likewise addresses.
  const telling = own.length > 0 ? own : rows.filter(({ by }) => by === 'serverName');
  const named = telling.filter((row) => matchAllowed(row, judged) !== 'no');
  const forbidden = (why = '') => ({ kind: 'forbidden', rule: `${key} of ${label}${why}` }) as const;
  if (named.length === 0) return forbidden();
  const placed = named.filter((row) => row.by !== 'serverCommand' || matchDirectory(row, judged) !== 'no');
  if (placed.length === 0)
    return forbidden(' (its "cwd" may change what its command runs; list it in "cwd" of the row)');
  const variables = placed.map((row) =>
    row.by === 'serverCommand' ? unlistedVariable(judged.entry, row.env) : undefined,
  );
  const fitting = placed.filter((_, at) => variables[at] === undefined);
  if (fitting.length === 0)
    return forbidden(
      ` (its "env" sets ${variables[0]}, which may change what its command runs; list it in "env" of the row)`,
    );
  if (own.length > 0 && setsHostHeader(judged.entry))
    return forbidden(' (its "headers" set Host, which may lead to another server)');
  const matches = fitting.map((row) =>
    row.by === 'serverCommand'
      ? allMatch([matchAllowed(row, judged), matchDirectory(row, judged)])
      : matchAllowed(row, judged),
  );
  const helped = helperAllowance(rows, judged);
  if (helped === 'no') return forbidden(' (its "headersHelper" is a command that is not listed)');
  return { kind: matches.includes('yes') && helped === 'yes' ? 'allowed' : 'undecided' };
}

/** Whoever lists commands does not want others to run, whatever for. */
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
    const fault = diagnosticAt(source, [key], `must be a list of rows; ${UNTIL_FIXED}`);
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
const ONLY_ROOT = 'allows only the path /; end it with /* for all paths';

/** What those who run the machine say. */
type Rule = { readonly policy: Pick<Policy, 'key'>; readonly sources: readonly Source[] };

/**
 * Of servers that run, those that may not any more since those who run the machine say something else. Merging does not
 * find all of them: what an entry leads to may be known only when it is dialled, and others than configured ones run.
 * `mayDial` says whether the entry, with what is put in, may be dialled now; who cannot say so says no.
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
