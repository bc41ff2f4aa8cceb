import {
  approveSettings,
  decideServers,
  rejectSettings,
  trustDirectory,
} from '../../../config/approval/approval-store.ts';
import { type Configuration, readConfiguration } from '../../../config/configuration.ts';
import { faultText } from '../../../config/files/diagnostics.ts';
import type { SettingsSource } from '../../../config/sources/source-types.ts';
import { line, type Piece } from '../../chat/piece.ts';
import { processTerminal } from '../../chat/terminal.ts';
import { NotUnderstood } from '../../host/not-understood.ts';
import { inSession, type Session } from '../session.ts';
import type { McpFormat } from '../sub-command.ts';
import { whereDocument, whereText } from '../where.ts';
import { askAtTerminal } from './ask-at-terminal.ts';
import { trustWords } from './dialogue.ts';
import {
  allPending,
  type Decisions,
  namedEntries,
  otherSettings,
  type Pending,
  rejectedEntries,
} from './pending.ts';
import { trustable } from './trustable.ts';

export type ApproveRequest = {
  readonly names: readonly string[];
  readonly choice: 'approved' | 'rejected';
  readonly all: boolean;
  readonly settings: boolean;
  readonly trust: boolean;
};

/** `toolplane mcp approve` and `reject`; gives the exit code. */
export function startApprove(
  request: ApproveRequest,
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await readConfiguration(session.world);
    const pending = allPending(configuration);
    const decisions = stated(request, configuration, pending);
    if (pending.length === 0 && (!decisions || (request.all && !request.settings)))
      return nothingWaits(session, configuration);
    if (decisions) return decide(session, decisions);
    if (format === 'json' || !processTerminal(env).isInteractive) throw nobodyToAsk(pending);
    const trust = trustable(configuration);
    const end = await askAtTerminal(pending, 'directory' in trust ? trust.directory : undefined, env);
    if (typeof end !== 'number') return decide(session, end);
    session.tell('nothing was decided');
    return end;
  });
}

/** What cannot be read waits for nobody, and who looks for it here should know. */
async function nothingWaits({ answer, tell }: Session, { faults }: Configuration): Promise<number> {
  await answer({
    document: { approved: [], rejected: [], settings: [], rejectedSettings: [] },
    pieces: [line('nothing waits for approval')],
  });
  const ofProject = faults.filter(({ scope, level }) => level === 'error' && scope !== 'user');
  for (const fault of ofProject) tell(faultText(fault));
  return 0;
}

/** What the flags decide without a question; undefined if they leave it to a person. */
function stated(
  { names, choice, all, settings, trust }: ApproveRequest,
  configuration: Configuration,
  pending: readonly Pending[],
): Decisions | undefined {
  if (names.length > 0 && (all || trust)) {
    throw new NotUnderstood(`name servers, or give ${all ? '--all' : '--trust-repository'}, not both`);
  }
  if (names.length === 0 && !all && !settings && !trust) return undefined;
  const servers = pending.flatMap((it) => (all && it.kind === 'server' ? [it.written] : []));
  const waiting = pending.flatMap((it) => (all && it.kind === 'settings' ? [it.source] : []));
  const files = settings ? otherSettings(configuration, choice) : waiting;
  if (choice === 'rejected') {
    const rejected = names.length > 0 ? rejectedEntries(configuration, names) : servers;
    return { approved: [], rejected, settings: [], rejectedSettings: files };
  }
  const named = names.length > 0 ? namedEntries(configuration, names) : { meant: servers, waiting: [] };
  return {
    approved: named.meant,
    rejected: [],
    settings: files,
    rejectedSettings: [],
    waiting: named.waiting,
    ...(trust && { trusted: trustedRoot(configuration) }),
  };
}

function trustedRoot(configuration: Configuration): string {
  const trust = trustable(configuration);
  if ('fault' in trust) throw new NotUnderstood(trust.fault);
  return trust.directory;
}

function nobodyToAsk(pending: readonly Pending[]): NotUnderstood {
  const what = pending.map((it) => (it.kind === 'server' ? it.written.name : it.source.label));
  return new NotUnderstood(
    `nobody is at a terminal to be asked about ${listed(what)}; name the servers, or give --settings or --all`,
  );
}

/** A few of many. */
function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more > 0 ? `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more` : names.join(', ');
}

const MOST_NAMES = 10;

/** Writes what was decided, and says so. */
async function decide({ world, answer, tell }: Session, decisions: Decisions): Promise<number> {
  const { approved, rejected, settings, rejectedSettings, trusted, waiting = [] } = decisions;
  if (approved.length > 0) decideServers(world.home, approved, 'approved');
  if (rejected.length > 0) decideServers(world.home, rejected, 'rejected');
  for (const source of settings) approveSettings(world.home, source);
  for (const source of rejectedSettings) rejectSettings(world.home, source);
  if (trusted !== undefined) trustDirectory(world.home, trusted);
  await answer({
    document: {
      approved: approved.map((it) => ({ name: it.name, ...whereDocument(it) })),
      rejected: rejected.map((it) => ({ name: it.name, ...whereDocument(it) })),
      settings: settings.map(settingsDocument),
      rejectedSettings: rejectedSettings.map(settingsDocument),
      ...(trusted !== undefined && { trusted }),
      ...(waiting.length > 0 && { waiting: waiting.map((it) => ({ name: it.name, ...whereDocument(it) })) }),
    },
    pieces: decisionPieces(decisions),
  });
  for (const it of waiting) {
    tell(`"${it.name}" of ${whereText(it)} is another entry and waits still: toolplane mcp approve shows it`);
  }
  return 0;
}

function settingsDocument({ label, path, scope }: SettingsSource): object {
  return { scope, label, path };
}

function decisionPieces({ approved, rejected, settings, rejectedSettings, trusted }: Decisions): Piece[] {
  const pieces = [
    ...approved.map((it) => line(['✓ ', 'good'], 'approved ', [it.name, 'strong'], ` (${whereText(it)})`)),
    ...rejected.map((it) => line(['⏸ ', 'dim'], 'rejected ', [it.name, 'strong'], ` (${whereText(it)})`)),
    ...settings.map(({ label }) => line(['✓ ', 'good'], `approved the settings of ${label}`)),
    ...rejectedSettings.map(({ label }) =>
      line(['⏸ ', 'dim'], `rejected the settings of ${label}; of them only what forbids counts`),
    ),
    ...(trusted === undefined ? [] : [line(['✓ ', 'good'], `trusted: ${trustWords(trusted)}`)]),
  ];
  return pieces.length > 0 ? pieces : [line('nothing was approved or rejected')];
}
