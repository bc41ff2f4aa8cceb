import type { Command } from 'commander';
import { nearest } from '../../../base/text/nearest.ts';
import type { ConfigContext } from '../../../config/config-context.ts';
import { readConfiguration } from '../../../config/configuration.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import type { ImportFile, ImportProgram } from '../../../config/import/convert-entry.ts';
import { type FoundFile, findServers } from '../../../config/import/find-servers.ts';
import { IMPORT_PROGRAMS } from '../../../config/import/programs.ts';
import { pathLabel } from '../../../config/sources/config-paths.ts';
import { pathOfScope, type WritableScope } from '../../../config/write/write-servers.ts';
import { addJsonFlag, formatOf, type McpFormat, scopeOption } from '../../flags/flag-values.ts';
import { ExitCode, UsageError } from '../../output/failure.ts';
import { type Asking, askFor, type Left, runDialogue } from '../../terminal/dialogue.ts';
import { line, type Piece } from '../../terminal/render.ts';
import { pendingPieces } from '../approve/dialogue.ts';
import { inSession, type Session } from '../session.ts';
import {
  type Candidate,
  candidatesOf,
  decideImport,
  existingServers,
  isConflict,
  isOpenToChoice,
} from './import-decision.ts';
import { donePieces, foundPieces, type Row, rowDocument } from './report.ts';
import { storeCandidate } from './store.ts';

const HELP = `
Reads the configuration files of other programs, lists their servers, and copies the servers you choose. The files of
other programs are never changed, and no server is started.

  toolplane mcp import                          list the servers; in a terminal, choose what to import
  toolplane mcp import cursor vscode            only from these programs
  toolplane mcp import --all                    import every new server without asking
  toolplane mcp import --all --dry-run          show what --all would write
  toolplane mcp import --all --secrets          store credentials as secrets, with \${secret:NAME} in the file

Sources:
  claude-code       ~/.claude.json: your servers, and the servers of this directory
  claude-desktop    claude_desktop_config.json
  cursor            ~/.cursor/mcp.json, .cursor/mcp.json
  vscode            mcp.json and settings.json of the user, .vscode/mcp.json, .vscode/settings.json
  codex             ~/.codex/config.toml, .codex/config.toml
  gemini            ~/.gemini/settings.json, .gemini/settings.json
  windsurf          ~/.codeium/windsurf/mcp_config.json
  zed               settings.json of the user, .zed/settings.json

A server that is already configured is not imported again: entries with the same command or URL are the same server.
With scope user, a server that is configured only in this project is imported nevertheless. An entry of the same name
that connects to another server is replaced only with --force. --all skips project files, which may come from an
untrusted author, unless --project-files is given, and servers that are disabled in the other program. Keys that have no
equivalent are reported.

Exit codes:
  0    success, or nothing to import
  1    a file or entry is invalid, another server has the same name, or an entry could not be written
  2    usage error
  130  interrupted, nothing was written`;

type Values = {
  json?: true;
  scope: WritableScope;
  all?: true;
  dryRun?: true;
  force?: true;
  secrets?: true;
  projectFiles?: true;
};

/** `toolplane mcp import`: imports servers of other programs. */
export function defineImport(command: Command): void {
  addJsonFlag(command)
    .argument('[sources...]', 'the programs; default: all')
    .addOption(scopeOption('user'))
    .option('--all', 'import all new servers without asking')
    .option('--dry-run', 'show what --all would write, and write nothing')
    .option('--force', 'replace entries of the same name')
    .option('--secrets', 'store literal credentials as secrets')
    .option('--project-files', 'with --all: also import from project files')
    .addHelpText('after', HELP)
    .action(async (sources: string[], values: Values) => {
      const code = await startImport(
        {
          sources,
          scope: values.scope,
          mode: values.dryRun ? 'dry-run' : values.all ? 'all' : 'ask',
          force: values.force === true,
          secrets: values.secrets === true,
          projectFiles: values.projectFiles === true,
        },
        formatOf(values),
        process.env,
      );
      if (code !== 0) throw new ExitCode(code);
    });
}

const CLAUDE_DESKTOP_HELP = `
The same as toolplane mcp import claude-desktop, which has more options.`;

/** `toolplane mcp add-from-claude-desktop`: the name of this command in other programs. */
export function defineAddFromClaudeDesktop(command: Command): void {
  addJsonFlag(command)
    .addOption(scopeOption('user'))
    .option('--all', 'import all new servers without asking')
    .addHelpText('after', CLAUDE_DESKTOP_HELP)
    .action(async (values: { json?: true; all?: true; scope: WritableScope }) => {
      const request = {
        sources: ['claude-desktop'],
        scope: values.scope,
        mode: values.all ? 'all' : 'ask',
        force: false,
        secrets: false,
        projectFiles: false,
      } as const;
      const code = await startImport(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

export type ImportRequest = {
  /** Empty for all programs. */
  readonly sources: readonly string[];
  readonly scope: WritableScope;
  /** `ask`: the user chooses. `dry-run`: shows what `all` would write. */
  readonly mode: 'ask' | 'all' | 'dry-run';
  readonly force: boolean;
  readonly secrets: boolean;
  readonly projectFiles: boolean;
};

/** Runs `toolplane mcp import`; returns its exit code. */
export function startImport(
  request: ImportRequest,
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const { context } = session;
    const tools = wantedTools(request.sources);
    const configuration = await readConfiguration(context);
    const around = { ...context, project: configuration.root ?? context.cwd };
    const found = await findServers(tools, around);
    const target = pathOfScope(context, request.scope);
    const candidates = candidatesOf(
      found,
      existingServers(configuration, { scope: request.scope, path: target }),
    );
    if (format === 'text' && request.mode === 'ask') await show(session, found, candidates);
    if (format === 'text' && found.every(({ servers, faults }) => servers.length + faults.length === 0)) {
      reportNothingFound(
        session,
        tools.flatMap((tool) => tool.places(around)),
      );
    }
    const chosen = await choose(candidates, request, session);
    if (typeof chosen === 'number') return chosen;
    const writes = request.mode !== 'dry-run';
    const rows = candidates.map((candidate) => rowOf(candidate, chosen, request, context));
    await answer(session, { rows, found, target, request, writes });
    return exitCode(rows, found, request);
  });
}

/** The servers to import, or an exit code. */
async function choose(
  candidates: readonly Candidate[],
  request: ImportRequest,
  { env, format, report }: Session,
): Promise<ReadonlySet<Candidate> | 'by-rule' | number> {
  if (request.mode !== 'ask') return 'by-rule';
  if (!candidates.some(isOpenToChoice)) return new Set();
  if (format === 'json' || !process.stdin.isTTY || !process.stdout.isTTY) {
    report(
      'nothing was written; use --all to import all new servers, or --all --dry-run to preview the import',
    );
    return new Set();
  }
  const picked = await askToImport(candidates, env);
  return typeof picked === 'number' ? picked : new Set(picked);
}

function rowOf(
  candidate: Candidate,
  chosen: ReadonlySet<Candidate> | 'by-rule',
  request: ImportRequest,
  context: ConfigContext,
): Row {
  const writes = request.mode !== 'dry-run';
  if (chosen !== 'by-rule' && !chosen.has(candidate)) {
    return { candidate, done: { kind: 'left', why: 'not chosen' } };
  }
  const rule = chosen === 'by-rule' ? decideImport(candidate, request) : ({ kind: 'take' } as const);
  if (rule.kind === 'leave') return { candidate, done: { kind: 'left', why: rule.why } };
  return { candidate, done: storeCandidate(context, candidate, { ...request, writes }) };
}

async function show(
  { context, answer }: Session,
  found: readonly FoundFile[],
  candidates: readonly Candidate[],
): Promise<void> {
  const columns = process.stdout.isTTY ? process.stdout.columns || 80 : undefined;
  await answer({ document: {}, pieces: foundPieces(found, candidates, context, columns) });
}

function reportNothingFound({ context, report }: Session, places: readonly ImportFile[]): void {
  const looked = places.map(({ path }) => pathLabel(path, context));
  report(`no servers of other programs found in ${looked.join(', ')}`);
}

type Report = {
  readonly rows: readonly Row[];
  readonly found: readonly FoundFile[];
  readonly target: string;
  readonly request: ImportRequest;
  readonly writes: boolean;
};

async function answer(session: Session, { rows, found, target, request, writes }: Report): Promise<void> {
  const taken = rows.filter(({ done }) => done.kind === 'written');
  const isShown = request.mode === 'ask';
  const reported = isShown ? rows.filter(({ done }) => done.kind !== 'left') : rows;
  const label = pathLabel(target, session.context);
  const faults = found.flatMap((it) => it.faults);
  await session.answer({
    document: {
      scope: request.scope,
      path: target,
      dryRun: !writes,
      servers: rows.map((row) => rowDocument(row, writes)),
      faults,
    },
    pieces: [
      ...(isShown && reported.length > 0 ? [line('')] : []),
      ...donePieces(reported, { writes, isShown }),
      ...(taken.length > 0
        ? [line(`${writes ? 'written to' : 'would be written to'} ${label} (scope ${request.scope})`)]
        : []),
    ],
  });
  for (const fault of faults) session.report(formatDiagnostic(fault));
  const literal = taken.flatMap(({ candidate, done }) =>
    done.kind === 'written' && done.literal.length > 0
      ? [`${candidate.server.name} (${done.literal.join(', ')})`]
      : [],
  );
  if (literal.length > 0) session.report(literalText(literal.join('; '), writes));
}

function literalText(places: string, writes: boolean): string {
  return writes
    ? `the file contains credentials: ${places}; to keep them out, import with --secrets, or run toolplane secret set NAME and write \${secret:NAME} instead`
    : `the file would contain credentials: ${places}; use --secrets to keep them out`;
}

function exitCode(rows: readonly Row[], found: readonly FoundFile[], { mode }: ImportRequest): number {
  const isBroken =
    found.some(({ faults }) => faults.length > 0) || rows.some(({ done }) => done.kind === 'failed');
  const isLeft =
    mode !== 'ask' && rows.some(({ candidate, done }) => done.kind === 'left' && isConflict(candidate));
  return isBroken || isLeft ? 1 : 0;
}

function wantedTools(sources: readonly string[]): readonly ImportProgram[] {
  if (sources.length === 0) return IMPORT_PROGRAMS;
  const known = IMPORT_PROGRAMS.map(({ id }) => id);
  for (const source of sources) {
    if (known.includes(source)) continue;
    const closest =
      nearest(source, known) ?? known.find((it) => it.startsWith(source) || it.endsWith(source));
    const hint = closest === undefined ? '' : `; did you mean ${closest}?`;
    throw new UsageError(`unknown source "${source}"${hint} (known: ${known.join(', ')})`);
  }
  return IMPORT_PROGRAMS.filter(({ id }) => sources.includes(id));
}

type Chosen = { readonly kind: 'chosen'; readonly candidates: readonly Candidate[] };

/** Asks once for all servers, or about each. Nothing is written before the last answer. */
export async function chooseServers(
  candidates: readonly Candidate[],
  asking: Asking,
): Promise<Chosen | Left> {
  const open = candidates.filter(isOpenToChoice);
  const plain = open.filter((it) => decideImport(it, { force: false, projectFiles: false }).kind === 'take');
  const answers = { a: 'all', all: 'all', o: 'one', one: 'one', n: 'none', none: 'none' } as const;
  const how = await askFor(asking, 'import? ', answers, choices(plain.length));
  if (typeof how !== 'string') return how;
  if (how === 'none') return { kind: 'chosen', candidates: [] };
  // Entries of project files are always shown before they are imported.
  const asked = how === 'one' ? open : open.filter((it) => it.isOfProject && !it.server.isOff);
  const chosen = how === 'all' ? plain.filter((it) => !asked.includes(it)) : [];
  for (const candidate of asked) {
    asking.print([about(candidate), ...(candidate.isOfProject ? wholeEntry(candidate) : [])]);
    const yes = await askFor(asking, 'import it? (y or n) ', { y: 'yes', yes: 'yes', n: 'no', no: 'no' });
    if (typeof yes !== 'string') return yes;
    if (yes === 'yes') chosen.push(candidate);
  }
  return { kind: 'chosen', candidates: chosen };
}

function choices(count: number): Piece {
  const all = count === 0 ? [] : [['  a', 'strong'] as const, ` all ${count} new   `];
  return line(...all, ['  o', 'strong'], ' one by one   ', ['n', 'strong'], ' none');
}

function about({ server, title, isOfProject, comparison }: Candidate): Piece {
  const facts = [
    ...(isOfProject ? ['from a project file'] : []),
    ...(server.isOff ? ['disabled in that program'] : []),
    ...(comparison.kind === 'differs' ? [`replaces the entry in ${comparison.where}`] : []),
  ];
  return line(
    ['? ', 'warn'],
    [server.name, 'strong'],
    ` from ${title}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}`,
  );
}

/** The complete entry: a project file may come from an untrusted author. */
function wholeEntry({ server: { name, entry }, path }: Candidate): Piece[] {
  const written = { name, scope: 'project', label: path, raw: entry } as const;
  return pendingPieces({ kind: 'server', written, choice: 'new' }).slice(1);
}

/** Asks at the terminal; returns the exit code if the user leaves without an answer. */
export async function askToImport(
  candidates: readonly Candidate[],
  env: NodeJS.ProcessEnv,
): Promise<readonly Candidate[] | number> {
  const end = await runDialogue(env, (asking) => chooseServers(candidates, asking));
  return typeof end === 'number' ? end : end.candidates;
}
