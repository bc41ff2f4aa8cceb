import { type Command, Option } from 'commander';
import { nearest } from '../../../base/text/nearest.ts';
import type { ConfigContext } from '../../../config/config-context.ts';
import { readConfiguration } from '../../../config/configuration.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import { type FoundFile, findServers } from '../../../config/import/find-servers.ts';
import type { ImportFile, ImportProgram } from '../../../config/import/importer.ts';
import { IMPORT_PROGRAMS } from '../../../config/import/programs.ts';
import { pathLabel } from '../../../config/sources/config-paths.ts';
import { pathOfScope, type WritableScope } from '../../../config/write/write-servers.ts';
import { addJsonFlag, formatOf, type McpFormat, scopeName } from '../../flags/flag-values.ts';
import { ExitCode, UsageError } from '../../output/failure.ts';
import { line } from '../../terminal/render.ts';
import { inSession, type Session } from '../session.ts';
import {
  type Candidate,
  candidatesOf,
  decideImport,
  existingServers,
  isConflict,
  isOpenToChoice,
} from './candidate.ts';
import { askToImport } from './dialogue.ts';

import { donePieces, foundPieces, type Row, rowDocument } from './report.ts';
import { storeCandidate } from './store.ts';

const HELP = `
Reads the files of other programs, shows which servers they have, and takes over those you choose. The files of others
are never changed, and nothing is started.

  toolplane mcp import                          what there is; in a terminal you are asked what to take
  toolplane mcp import cursor vscode            of these programs only
  toolplane mcp import --all                    take every new one without a question
  toolplane mcp import --all --dry-run          only show what that would write
  toolplane mcp import --all --secrets          keep credentials out of the file: \${secret:NAME} in their place

Sources:
  claude-code       ~/.claude.json: yours, and those of this directory
  claude-desktop    claude_desktop_config.json
  cursor            ~/.cursor/mcp.json, .cursor/mcp.json
  vscode            mcp.json and settings.json of the user, .vscode/mcp.json, .vscode/settings.json
  codex             ~/.codex/config.toml, .codex/config.toml
  gemini            ~/.gemini/settings.json, .gemini/settings.json
  windsurf          ~/.codeium/windsurf/mcp_config.json
  zed               settings.json of the user, .zed/settings.json

A server you already have is left alone: the same command or address counts as the same server; one that only this
project has is taken for scope user all the same. One of the same name that leads elsewhere is replaced only with
--force. What a file in the project names may come from anybody, so --all leaves it out unless --project-files is given.
What is turned off there is left out too. Whatever has no counterpart here is told in a line.

Exit codes:
  0    success, also if there was nothing to do
  1    a file or an entry cannot be used, a server of the same name was in the way, or it could not be written
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

/** `toolplane mcp import`: servers that other programs already have. */
export function defineImport(command: Command): void {
  addJsonFlag(command)
    .argument('[sources...]', 'which programs; by default all that are known')
    .addOption(
      new Option('-s, --scope <scope>', 'where to write them: local, project or user')
        .argParser(scopeName)
        .default('user'),
    )
    .option('--all', 'take all new ones without a question')
    .option('--dry-run', 'show what --all would do, and write nothing')
    .option('--force', 'replace those of the same name that differ')
    .option('--secrets', 'put credentials that are written out into the secret store')
    .option('--project-files', 'with --all: also what files in the project name')
    .addHelpText('after', HELP)
    .action(async (sources: string[], values: Values) => {
      const code = await startImport(
        {
          sources,
          scope: values.scope,
          asks: values.dryRun ? 'dry-run' : values.all ? 'all' : 'person',
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
The same as toolplane mcp import claude-desktop, which can do more.`;

/** `toolplane mcp add-from-claude-desktop`, as other programs call one form of `import`. */
export function defineAddFromClaudeDesktop(command: Command): void {
  addJsonFlag(command)
    .addOption(
      new Option('-s, --scope <scope>', 'where to write them: local, project or user')
        .argParser(scopeName)
        .default('user'),
    )
    .option('--all', 'take all new ones without a question')
    .addHelpText('after', CLAUDE_DESKTOP_HELP)
    .action(async (values: { json?: true; all?: true; scope: WritableScope }) => {
      const request = {
        sources: ['claude-desktop'],
        scope: values.scope,
        asks: values.all ? 'all' : 'person',
        force: false,
        secrets: false,
        projectFiles: false,
      } as const;
      const code = await startImport(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

export type ImportRequest = {
  /** All that are known, if none is named. */
  readonly sources: readonly string[];
  readonly scope: WritableScope;
  /** Who decides: a person, or nobody; `dry-run` shows what the latter would do. */
  readonly asks: 'person' | 'all' | 'dry-run';
  readonly force: boolean;
  readonly secrets: boolean;
  readonly projectFiles: boolean;
};

/** `toolplane mcp import`; gives its exit code. */
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
    if (format === 'text' && request.asks === 'person') await show(session, found, candidates);
    if (format === 'text' && found.every(({ servers, faults }) => servers.length + faults.length === 0)) {
      reportNothingFound(
        session,
        tools.flatMap((tool) => tool.places(around)),
      );
    }
    const chosen = await choose(candidates, request, session);
    if (typeof chosen === 'number') return chosen;
    const writes = request.asks !== 'dry-run';
    const rows = candidates.map((candidate) => rowOf(candidate, chosen, request, context));
    await answer(session, { rows, found, target, request, writes });
    return exitCode(rows, found, request);
  });
}

/** What is to be done with each, or an exit code. */
async function choose(
  candidates: readonly Candidate[],
  request: ImportRequest,
  { env, format, report }: Session,
): Promise<ReadonlySet<Candidate> | 'by-rule' | 'nothing' | number> {
  if (request.asks !== 'person') return 'by-rule';
  if (!candidates.some(isOpenToChoice)) return 'nothing';
  if (format === 'json' || !process.stdin.isTTY || !process.stdout.isTTY) {
    report('nothing was written: --all takes all new ones, --dry-run shows what that would do');
    return 'nothing';
  }
  const picked = await askToImport(candidates, env);
  return typeof picked === 'number' ? picked : new Set(picked);
}

function rowOf(
  candidate: Candidate,
  chosen: ReadonlySet<Candidate> | 'by-rule' | 'nothing',
  request: ImportRequest,
  context: ConfigContext,
): Row {
  const writes = request.asks !== 'dry-run';
  if (chosen === 'nothing') return { candidate, done: { kind: 'left', why: 'nobody chose it' } };
  if (chosen !== 'by-rule' && !chosen.has(candidate)) {
    return { candidate, done: { kind: 'left', why: 'it was not chosen' } };
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
  report(`no servers of other programs were found; looked for ${looked.join(', ')}`);
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
  const isShown = request.asks === 'person';
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
    ? `credentials stand in the file as they were: ${places}; to keep them out, --secrets next time, or toolplane secret set NAME and \${secret:NAME} in their place`
    : `credentials would stand in the file as they are: ${places}; --secrets keeps them out`;
}

function exitCode(rows: readonly Row[], found: readonly FoundFile[], { asks }: ImportRequest): number {
  const isBroken =
    found.some(({ faults }) => faults.length > 0) || rows.some(({ done }) => done.kind === 'failed');
  const isLeft =
    asks !== 'person' && rows.some(({ candidate, done }) => done.kind === 'left' && isConflict(candidate));
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
    throw new UsageError(`there is no source "${source}"${hint} (there are ${known.join(', ')})`);
  }
  return IMPORT_PROGRAMS.filter(({ id }) => sources.includes(id));
}
