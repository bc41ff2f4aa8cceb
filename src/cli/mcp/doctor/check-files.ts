import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { shellQuote } from '../../../base/text/display-text.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { literalSecrets } from '../../../config/explain/mask-entry.ts';
import type { ServerRecord } from '../../../config/explain/server-record.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import { openSecretStore, plainSecretsPath, secretsPath } from '../../../config/secrets/secret-store.ts';
import { withoutProjectPath } from '../../../mcp/transports/stdio/server-environment.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { type Checked, checked, type Finding } from './report.ts';

/**
 * Every file that exists: whether it can be read, whether other users can read it, and whether it contains secrets. Problems of the
 * entries of `records` are reported with the server.
 */
export async function checkFiles(
  configuration: Configuration,
  records: readonly ServerRecord[],
): Promise<Checked[]> {
  const { sources, settingsSources, faults, context } = configuration;
  const paths = new Map<string, string | undefined>();
  for (const { label, path, state } of sources) if (state !== 'absent') paths.set(label, path);
  for (const { label, path } of settingsSources) paths.set(label, path);
  for (const { label } of faults) if (!paths.has(label)) paths.set(label, undefined);
  const files = await Promise.all(
    [...paths].map(async ([label, path]) => {
      const found = [
        ...fileFindings(configuration, label, records),
        ...pendingFindings(configuration, label),
        ...(path === undefined ? [] : await secretFindings(configuration, label, path)),
      ];
      return checked(label, found.length > 0 ? found : [{ check: 'file', level: 'ok', text: 'readable' }]);
    }),
  );
  return [...files, ...(await checkSecrets(context))];
}

/** Problems in a file, except those that are reported with a server; if a server is broken, its name. */
export function fileFindings(
  configuration: Configuration,
  label: string,
  records: readonly ServerRecord[],
): Finding[] {
  const broken = records.flatMap(({ name, server }) =>
    server?.verdict.kind === 'broken' ? [{ name, fault: server.verdict.fault }] : [],
  );
  const reported = new Set([
    ...broken.map(({ fault }) => formatDiagnostic(fault)),
    ...records
      .flatMap((it) => it.diagnostics.filter(({ level }) => level === 'warning'))
      .map(formatDiagnostic),
  ]);
  const own = new Map(
    configuration.faults.filter((it) => it.label === label).map((it) => [formatDiagnostic(it), it.level]),
  );
  const names = broken.filter(({ fault }) => fault.label === label).map(({ name }) => name);
  return [
    ...[...own]
      .filter(([text]) => !reported.has(text))
      .map(([text, level]): Finding => ({ check: 'file', level, text })),
    ...(names.length === 0
      ? []
      : [
          {
            check: 'entries',
            level: 'error',
            text: `broken entries (see the servers below): ${names.join(', ')}`,
          } as const,
        ]),
  ];
}

function pendingFindings({ settings }: Configuration, label: string): Finding[] {
  const pending = settings.pending.find((it) => it.label === label);
  if (!pending) return [];
  const why =
    pending.choice === 'new' ? 'the file is not approved yet' : 'the file changed since it was approved';
  return [
    {
      check: 'approval',
      level: 'waiting',
      text: `${why}, so only its restrictions are active`,
      fix: 'to review and approve it, run: toolplane mcp approve',
    },
  ];
}

/** Literal secrets belong in a file that only the user can read and that is not in a repository. */
async function secretFindings(configuration: Configuration, label: string, path: string): Promise<Finding[]> {
  const sources = configuration.sources.filter((it) => it.label === label);
  const scope = sources[0]?.scope;
  const secrets = sources
    .flatMap(({ servers }) => servers)
    .flatMap(({ name, raw }) => literalSecrets(raw).map((member) => `${name}: ${member}`));
  if (secrets.length === 0) return [];
  const found: Finding[] = [];
  const warn = (check: string, problem: string, fix: string) =>
    void found.push({ check, level: 'warning', text: `${problem} (${secrets.join(', ')})`, fix });
  if (await isTracked(configuration, path))
    warn('secrets', 'the file contains secrets and is tracked by git', MOVE);
  else if (scope === 'project') warn('secrets', 'the file contains secrets and is shared', MOVE);
  const mode = await modeOf(path);
  if (scope !== 'project' && mode !== undefined && (mode & 0o044) !== 0) {
    warn('mode', 'the file contains secrets and other users can read it', `chmod 600 ${shellQuote(path)}`);
  }
  return found;
}

const MOVE = `revoke these secrets, store new ones with toolplane secret set <name>, and write "\${secret:<name>}" in the file`;

/** The secret store, if there is one. Reading it moves the secrets of an unencrypted file to the encrypted one. */
async function checkSecrets(context: Configuration['context']): Promise<Checked[]> {
  const [plain, sealed] = [plainSecretsPath(context.home), secretsPath(context.home)];
  const before = (await modeOf(plain)) === undefined ? sealed : plain;
  if ((await modeOf(before)) === undefined) return [];
  const finding = storeFinding(context, before);
  return [checked((await modeOf(plain)) === undefined ? sealed : plain, [finding])];
}

/** Opening the secret store checks its content and its file mode. */
function storeFinding(context: Configuration['context'], path: string): Finding {
  try {
    const names = openSecretStore(context).names();
    return {
      check: 'secrets',
      level: 'ok',
      text: `${names.length} ${names.length === 1 ? 'secret' : 'secrets'} stored, encrypted and readable only by you`,
    };
  } catch (cause) {
    const fix = `if the error names no remedy: move ${shellQuote(path)} to another directory, and store the secrets again with toolplane secret set <name>`;
    return { check: 'secrets', level: 'error', text: messageOf(cause), fix };
  }
}

/** Undefined if the file does not exist; 0 on Windows, which has no file modes. */
async function modeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mode }) => (process.platform === 'win32' ? 0 : mode),
    () => undefined,
  );
}

const run = promisify(execFile);

/**
 * Whether git tracks the file. The repository may be untrusted: its configuration must not make git run a command, and
 * an executable in it must not be run as git.
 */
async function isTracked({ context, root = context.cwd }: Configuration, path: string): Promise<boolean> {
  const args = ['-c', 'core.fsmonitor=false', '-C', dirname(path), 'ls-files', '--error-unmatch', '--'];
  const env = withoutProjectPath(context.env, root);
  return run('git', [...args, basename(path)], { timeout: 5_000, env: { ...env } }).then(
    () => true,
    () => false,
  );
}
