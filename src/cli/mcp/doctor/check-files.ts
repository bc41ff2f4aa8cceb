import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { shellQuote } from '../../../base/text/display-text.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { explainServer } from '../../../config/explain/explain-server.ts';
import { literalSecrets } from '../../../config/explain/mask-entry.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import type { ConfigDiagnostic, ConfiguredServer, Scope } from '../../../config/model.ts';
import { fileSecretStore } from '../../../config/secrets/secret-store.ts';
import { withoutProjectPath } from '../../../mcp/transports/stdio/server-environment.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { type Checked, checked, type Finding } from './report.ts';

/**
 * Every file that is there: whether it can be read, who else can read it, and whether secrets stand in it. What is wrong
 * with the entries of `reported` servers is reported there.
 */
export async function checkFiles(
  configuration: Configuration,
  reported: readonly ConfiguredServer[],
): Promise<Checked[]> {
  const { sources, settingsSources, faults, context } = configuration;
  const labels = new Map<string, string | undefined>();
  for (const { label, path, state } of sources) if (state !== 'absent') labels.set(label, path);
  for (const { label, path } of settingsSources) labels.set(label, path);
  for (const { label } of faults) if (!labels.has(label)) labels.set(label, undefined);
  const files = await Promise.all(
    [...labels].map(async ([label, path]) =>
      checked(label, await findingsOf(configuration, { label, path, reported })),
    ),
  );
  const secrets = join(context.home, 'secrets.json');
  return [...files, ...((await isThere(secrets)) ? [checked(secrets, checkStore(secrets))] : [])];
}

type Looked = {
  readonly label: string;
  readonly path: string | undefined;
  readonly reported: readonly ConfiguredServer[];
};

async function findingsOf(
  configuration: Configuration,
  { label, path, reported }: Looked,
): Promise<Finding[]> {
  const { sources, settings } = configuration;
  const scope = sources.find((it) => it.label === label)?.scope;
  const waiting = settings.pending.find((it) => it.label === label);
  const secrets = sources
    .filter((it) => it.label === label)
    .flatMap(({ servers }) => servers)
    .flatMap(({ name, raw }) => literalSecrets(raw).map((member) => `${name}: ${member}`));
  const found = [
    ...fileFaults(configuration, label, reported),
    ...(waiting ? [pendingFinding(waiting)] : []),
    ...(path === undefined || secrets.length === 0
      ? []
      : await checkSecrets(configuration, path, scope, secrets)),
  ];
  return found.length > 0 ? found : [{ check: 'file', level: 'ok', text: 'it can be read' }];
}

/** What is wrong in a file, each thing once: of what is told below, at its server, only that something is broken. */
export function fileFaults(
  configuration: Configuration,
  label: string,
  reported: readonly ConfiguredServer[],
): Finding[] {
  const broken = reported.flatMap(({ name, verdict }) =>
    verdict.kind === 'broken' ? [{ name, fault: verdict.fault }] : [],
  );
  const ofBroken = new Set(broken.map(({ fault }) => formatDiagnostic(fault)));
  const ofEntries = new Set(reported.flatMap(({ name }) => explainServer(configuration, name).faults));
  const isReported = (fault: ConfigDiagnostic) =>
    ofBroken.has(formatDiagnostic(fault)) ||
    (fault.level === 'warning' && ofEntries.has(formatDiagnostic(fault)));
  const own = configuration.faults.filter((fault) => fault.label === label && !isReported(fault));
  const names = broken.filter(({ fault }) => fault.label === label).map(({ name }) => name);
  const pointer: Finding[] =
    names.length === 0
      ? []
      : [{ check: 'entries', level: 'error', text: `broken entries, told below: ${names.join(', ')}` }];
  return [
    ...unique(own).map(
      (fault): Finding => ({ check: 'file', level: fault.level, text: formatDiagnostic(fault) }),
    ),
    ...pointer,
  ];
}

function unique(faults: readonly ConfigDiagnostic[]): ConfigDiagnostic[] {
  return [...new Map(faults.map((it) => [formatDiagnostic(it), it])).values()];
}

function pendingFinding({ choice }: { readonly choice: 'new' | 'changed' }): Finding {
  const why = choice === 'new' ? 'nobody has approved it yet' : 'it changed since it was approved';
  return {
    check: 'approval',
    level: 'waiting',
    text: `${why}, so only what it forbids counts`,
    fix: 'read it, then: toolplane mcp approve --settings',
  };
}

/** Secrets that are written out belong into a file that nobody else reads and no repository has. */
async function checkSecrets(
  configuration: Configuration,
  path: string,
  scope: Scope | undefined,
  secrets: readonly string[],
): Promise<Finding[]> {
  const where = secrets.join(', ');
  const warn = (check: string, text: string, fix: string): Finding => ({
    check,
    level: 'warning',
    text,
    fix,
  });
  const found: Finding[] = [];
  if (await isTracked(configuration, path)) {
    found.push(warn('secrets', `git tracks it, and secrets are written out in it (${where})`, REFER));
  } else if (scope === 'project') {
    found.push(
      warn('secrets', `it is meant to be shared, and secrets are written out in it (${where})`, REFER),
    );
  }
  const mode = await modeOf(path);
  if (scope !== 'project' && mode !== undefined && (mode & 0o044) !== 0) {
    const text = `others on this machine may read it, and secrets are written out in it (${where})`;
    found.push(warn('mode', text, `chmod 600 ${shellQuote(path)}`));
  }
  return found;
}

const REFER = `change these secrets, then: toolplane secret set <name>, and write "\${secret:<name>}" instead`;

/** The store says by itself whether it can be used: also by its mode. */
function checkStore(path: string): Finding[] {
  try {
    const names = fileSecretStore(path).names();
    return [{ check: 'secrets', level: 'ok', text: `${names.length} kept, and only you may read them` }];
  } catch (cause) {
    const fix = `chmod 600 ${shellQuote(path)}, or mend the file`;
    return [{ check: 'secrets', level: 'error', text: messageOf(cause), fix }];
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await modeOf(path)) !== undefined;
}

/** Undefined where there is no such file, or no such thing as a mode. */
async function modeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mode }) => (process.platform === 'win32' ? 0 : mode),
    () => undefined,
  );
}

const run = promisify(execFile);

/**
 * Without git, or outside of a repository, nothing is tracked. The repository may be anybody's: its own configuration must
 * not name a command that git runs, and its files must not be taken for git.
 */
async function isTracked({ context, root = context.cwd }: Configuration, path: string): Promise<boolean> {
  const args = ['-c', 'core.fsmonitor=false', '-C', dirname(path), 'ls-files', '--error-unmatch', '--'];
  const env = withoutProjectPath(context.env, root);
  return run('git', [...args, basename(path)], { timeout: 5_000, env: { ...env } }).then(
    () => true,
    () => false,
  );
}
