import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import {
  approveSettings,
  decideServers,
  forgetApprovals,
  rejectSettings,
  trustDirectory,
} from '../../../config/approval/approval-store.ts';
import { type Configuration, readConfiguration } from '../../../config/configuration.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import { isWithin, realPath } from '../../../config/files/read-text.ts';
import { repositoryRoot } from '../../../config/sources/config-paths.ts';
import type { SettingsSource } from '../../../config/sources/source-types.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../../flags/flag-values.ts';
import { ExitCode, UsageError } from '../../output/failure.ts';
import { line, type Piece } from '../../terminal/render.ts';
import { processTerminal } from '../../terminal/terminal.ts';
import { whereDocument, whereText } from '../entries.ts';
import { inSession, type Session } from '../session.ts';
import { askToApprove, settingsRows, trustText } from './dialogue.ts';
import {
  allPending,
  type Decisions,
  namedEntries,
  otherSettings,
  type Pending,
  rejectedEntries,
} from './pending.ts';

const APPROVE_HELP = `
Servers in .mcp.json and .toolplane/settings.local.json, and what the settings files, skills, slash commands and agent
files of a project would allow, run or set, are active only after you approve them on this machine. In a terminal,
without names, each is shown as written:

  y  approve it; if it changes, you are asked again
  n  reject it: a rejected server is not started; in a rejected settings file, only restrictions such as deny and ask
     rules are active; if it changes, you are asked again
  s  skip it
  t  trust the whole repository: every server, hook, allow rule and variable in it is active without approval, now and
     after every pull; another repository at the same path is not trusted (a token in .git/toolplane-trust identifies
     this one)
  q  stop; the answers so far are saved

Ctrl-C changes nothing. Without a terminal, only named items are approved:

  toolplane mcp approve                     review and decide
  toolplane mcp approve github docs         these servers; if several files define the same name, the pending
                                            entry of highest precedence
  toolplane mcp approve --settings          the settings, skills and agent files of the project, including rejected ones
  toolplane mcp approve --all               every pending server and settings file
  toolplane mcp approve --trust-repository  everything in the repository, now and later

Files:
  ~/.toolplane/choices.json                 your decisions; toolplane mcp reset-project-choices removes them

Exit codes:
  0    success, or nothing is pending
  1    failure
  2    usage error, unknown server, or no terminal to ask on
  130  interrupted, nothing was decided (129, 143: hangup, termination)`;

type Values = { json?: true; all?: true; settings?: true; trustRepository?: true };

/** `toolplane mcp approve`: approves servers and settings of a project. */
export function defineApprove(command: Command): void {
  addJsonFlag(command)
    .argument('[name...]', 'the servers; without names, you are asked about each')
    .option('--all', 'every pending server and settings file')
    .option('--settings', 'the settings files of the project')
    .option('--trust-repository', 'everything in the repository, now and after every pull')
    .addHelpText('after', APPROVE_HELP)
    .action(async (names: string[], values: Values) => {
      const { all, settings, trustRepository } = values;
      const request = {
        names,
        choice: 'approved',
        all: all === true,
        settings: settings === true,
        trust: trustRepository === true,
      } as const;
      const code = await startApprove(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

const REJECT_HELP = `
A rejected server is not started and does not shadow other entries; of a rejected settings file, only restrictions are
active. If a rejected server entry or settings file changes, you are asked again. In a terminal, without names, you are
asked about each item, as by toolplane mcp approve.

  toolplane mcp reject github
  toolplane mcp reject --settings          the settings files of the project, including approved ones
  toolplane mcp reject --all               every pending server and settings file

Files:
  ~/.toolplane/choices.json                your decisions; toolplane mcp reset-project-choices removes them

Exit codes:
  0    success, or nothing is pending
  1    failure
  2    usage error, unknown server, or no terminal to ask on
  130  interrupted, nothing was decided (129, 143: hangup, termination)`;

/** `toolplane mcp reject`: rejects servers and settings of a project. */
export function defineReject(command: Command): void {
  addJsonFlag(command)
    .argument('[name...]', 'the servers; without names, you are asked about each')
    .option('--all', 'every pending server and settings file')
    .option('--settings', 'the settings files of the project')
    .addHelpText('after', REJECT_HELP)
    .action(async (names: string[], values: { json?: true; all?: true; settings?: true }) => {
      const request = {
        names,
        choice: 'rejected',
        all: values.all === true,
        settings: values.settings === true,
        trust: false,
      } as const;
      const code = await startApprove(request, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

const RESET_HELP = `
Removes your approvals and rejections for this repository and the directories below it, and your trust in the repository
(--trust-repository); outside of a repository, for this directory. Its servers and settings are pending approval again.

Files:
  ~/.toolplane/choices.json                your decisions

Exit codes:
  0  success
  1  the file cannot be written
  2  usage error`;

/** `toolplane mcp reset-project-choices`: makes everything in the project pending again. */
export function defineResetProjectChoices(command: Command): void {
  addJsonFlag(command)
    .addHelpText('after', RESET_HELP)
    .action(async (values: { json?: true }) => {
      const code = await startReset(formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

export type ApproveRequest = {
  readonly names: readonly string[];
  readonly choice: 'approved' | 'rejected';
  readonly all: boolean;
  readonly settings: boolean;
  readonly trust: boolean;
};

/** Runs `toolplane mcp approve` and `reject`; returns the exit code. */
export function startApprove(
  request: ApproveRequest,
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await readConfiguration(session.context);
    const pending = allPending(configuration);
    const decisions = stated(request, configuration, pending);
    if (pending.length === 0 && (!decisions || (request.all && !request.settings)))
      return nothingWaits(session, configuration);
    if (decisions) return decide(session, decisions, { showsSettings: true });
    if (format === 'json' || !processTerminal(env).isInteractive) throw approvalRequired(pending);
    const trust = trustable(configuration);
    const end = await askToApprove(pending, 'directory' in trust ? trust.directory : undefined, env);
    if (typeof end !== 'number') return decide(session, end);
    session.report('nothing was approved or rejected');
    return end;
  });
}

/** Reports unreadable files, whose entries cannot be approved. */
async function nothingWaits({ answer, report }: Session, { faults }: Configuration): Promise<number> {
  await answer({
    document: { approved: [], rejected: [], settings: [], rejectedSettings: [] },
    pieces: [line('nothing is pending approval')],
  });
  const ofProject = faults.filter(({ scope, level }) => level === 'error' && scope !== 'user');
  for (const fault of ofProject) report(formatDiagnostic(fault));
  return 0;
}

/** The decisions of the flags; undefined if the user must be asked. */
function stated(
  { names, choice, all, settings, trust }: ApproveRequest,
  configuration: Configuration,
  pending: readonly Pending[],
): Decisions | undefined {
  if (names.length > 0 && (all || trust)) {
    throw new UsageError(`name servers or use ${all ? '--all' : '--trust-repository'}, not both`);
  }
  if (names.length === 0 && !all && !settings && !trust) return undefined;
  const servers = pending.flatMap((it) => (all && it.kind === 'server' ? [it.written] : []));
  const waiting = pending.flatMap((it) => (all && it.kind === 'settings' ? [it.source] : []));
  const files = settings ? otherSettings(configuration, choice) : waiting;
  if (choice === 'rejected') {
    const rejected = names.length > 0 ? rejectedEntries(configuration, names) : servers;
    return { approved: [], rejected, settings: [], rejectedSettings: files };
  }
  const named = names.length > 0 ? namedEntries(configuration, names) : { shown: servers, waiting: [] };
  return {
    approved: named.shown,
    rejected: [],
    settings: files,
    rejectedSettings: [],
    waiting: named.waiting,
    ...(trust && { trusted: trustedRoot(configuration) }),
  };
}

function trustedRoot(configuration: Configuration): string {
  const trust = trustable(configuration);
  if ('fault' in trust) throw new UsageError(trust.fault);
  return trust.directory;
}

function approvalRequired(pending: readonly Pending[]): UsageError {
  const what = pending.map((it) => (it.kind === 'server' ? it.written.name : it.source.label));
  return new UsageError(
    `cannot ask about ${listed(what)} without a terminal; name the servers, or use --settings or --all`,
  );
}

/** The first names of a list. */
function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ');
}

const MAX_NAMES = 10;

/** Writes and reports the decisions. */
async function decide(
  { context, answer, report }: Session,
  decisions: Decisions,
  options: { readonly showsSettings?: boolean } = {},
): Promise<number> {
  const { approved, rejected, settings, rejectedSettings, trusted, waiting = [] } = decisions;
  if (approved.length > 0) decideServers(context.home, approved, 'approved');
  if (rejected.length > 0) decideServers(context.home, rejected, 'rejected');
  for (const source of settings) approveSettings(context.home, source);
  for (const source of rejectedSettings) rejectSettings(context.home, source);
  if (trusted !== undefined) trustDirectory(context.home, trusted);
  await answer({
    document: {
      approved: approved.map((it) => ({ name: it.name, ...whereDocument(it) })),
      rejected: rejected.map((it) => ({ name: it.name, ...whereDocument(it) })),
      settings: settings.map(settingsDocument),
      rejectedSettings: rejectedSettings.map(settingsDocument),
      ...(trusted !== undefined && { trusted }),
      ...(waiting.length > 0 && { waiting: waiting.map((it) => ({ name: it.name, ...whereDocument(it) })) }),
    },
    pieces: decisionPieces(decisions, options),
  });
  for (const it of waiting) {
    report(
      `another entry "${it.name}" (${whereText(it)}) is still pending; to review it, run toolplane mcp approve`,
    );
  }
  return 0;
}

function settingsDocument({ label, path, scope }: SettingsSource): object {
  return { scope, label, path };
}

/** Settings that were approved by a flag are shown: the user has not seen them in a dialogue. */
function decisionPieces(
  { approved, rejected, settings, rejectedSettings, trusted }: Decisions,
  { showsSettings = false }: { readonly showsSettings?: boolean },
): Piece[] {
  const pieces = [
    ...approved.map((it) => line(['✓ ', 'good'], 'approved ', [it.name, 'strong'], ` (${whereText(it)})`)),
    ...rejected.map((it) => line(['⏸ ', 'dim'], 'rejected ', [it.name, 'strong'], ` (${whereText(it)})`)),
    ...settings.flatMap((source) => [
      line(['✓ ', 'good'], `approved the settings in ${source.label}`, showsSettings ? ':' : ''),
      ...(showsSettings ? settingsRows(source) : []),
    ]),
    ...rejectedSettings.map(({ label }) =>
      line(
        ['⏸ ', 'dim'],
        `rejected the settings in ${label}; only its restrictions, such as deny and ask rules, are active`,
      ),
    ),
    ...(trusted === undefined ? [] : [line(['✓ ', 'good'], `trusted: ${trustText(trusted)}`)]),
  ];
  return pieces.length > 0 ? pieces : [line('nothing was approved or rejected')];
}

/** Runs `toolplane mcp reset-project-choices`; returns its exit code. */
export function startReset(format: McpFormat, env: NodeJS.ProcessEnv): Promise<number> {
  return inSession(format, env, async ({ context, answer }) => {
    const directory = repositoryRoot(context.cwd, existsSync) ?? context.cwd;
    const forgotten = forgetApprovals(context.home, directory);
    const count = `${forgotten} ${forgotten === 1 ? 'decision' : 'decisions'}`;
    await answer({
      document: { directory, forgotten },
      pieces: [
        line(
          forgotten === 0
            ? `no approvals or rejections recorded for ${directory}`
            : `removed ${count} about ${directory}; its servers and settings are pending approval again`,
        ),
      ],
    });
    return 0;
  });
}

/** The repository that may be trusted, or why not: a home directory contains all projects. */
export function trustable({
  root,
  context,
}: {
  readonly root?: string;
  readonly context: Pick<Configuration['context'], 'cwd' | 'userHome'>;
}): { readonly directory: string } | { readonly fault: string } {
  if (root === undefined) return { fault: `${context.cwd} is not in a repository; name the servers` };
  if (isWithin(realPath(context.userHome), realPath(root))) {
    return {
      fault: `${root} contains your home directory with all projects, so it cannot be trusted as a whole; name the servers`,
    };
  }
  return { directory: root };
}
