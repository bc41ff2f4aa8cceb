import { rmSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { cliContext } from '../../host/config-context.ts';
import { exitWith, reportFailure } from '../../output/failure.ts';
import { formatBytes, joinLines, jsonDocument, pluralize } from '../../output/format.ts';
import { type Output, processOutput } from '../../output/output.ts';
import { readLine } from '../../terminal/read-line.ts';
import { table } from '../../terminal/table.ts';
import { type HomeContent, type HomePart, homeContent } from './home-content.ts';
import { projectFiles, removeFromProjects, removeIfEmpty, type Undo, unknownFiles } from './project-files.ts';

const HELP = `
Lists everything that Toolplane has written and that still exists, and removes it after confirmation:

  settings, secrets, approvals, conversations, pins and cache in ~/.toolplane (or TOOLPLANE_HOME)
  files that Toolplane created in projects, if they contain nothing else
  servers, rules and modes that Toolplane added to files of projects, if they are unchanged

Content that was changed since, or that Toolplane did not write, is listed and kept.

  toolplane uninstall                  list, then ask
  toolplane uninstall --dry-run        list only
  toolplane uninstall --yes            remove everything without asking
  toolplane uninstall --keep-settings  remove only conversations, pins and cache

Exit codes:
  0  removed, or nothing to remove
  1  not confirmed, so nothing was removed; or a file could not be removed (see stderr)
  2  usage error`;

type Options = {
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
  readonly keepSettings?: boolean;
};

/** `toolplane uninstall`: lists and removes everything Toolplane has written. */
export function defineUninstall(command: Command): void {
  command
    .addOption(new Option('--yes', 'remove without asking').conflicts('dryRun'))
    .option('--dry-run', 'list only, remove nothing')
    .option('--keep-settings', 'keep settings, secrets, approvals and project files')
    .option('--json', 'print one JSON document; never ask')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      exitWith(await startUninstall(options, process.env));
    });
}

async function startUninstall(options: Options, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  try {
    return await uninstall(options, cliContext(env).home, output);
  } catch (cause) {
    return reportFailure(cause, output, options.json ? 'json' : 'text');
  }
}

async function uninstall(options: Options, home: string, output: Output): Promise<number> {
  const plan = planRemoval(home, options);
  const isEmpty =
    plan.parts.every(({ stays }) => stays) && plan.files.every(({ action }) => action === 'leave');
  if (!options.json) {
    const text = planText(plan, options, output.columns);
    await output.print(joinLines(isEmpty ? [...text, `nothing to remove in projects or in ${home}`] : text));
  }
  const isConfirmed = !isEmpty && !options.dryRun && (options.yes || (await confirm(options)));
  const faults = isConfirmed ? remove(home, options) : [];
  if (options.json) {
    const removed = isConfirmed && faults.length === 0;
    await output.print(jsonDocument({ removed, ...planDocument(plan, faults) }));
  }
  for (const fault of faults) output.report(fault);
  if (isConfirmed) {
    output.report(
      faults.length > 0
        ? 'some files could not be removed'
        : 'removed; to remove the program itself, run "npm uninstall -g toolplane"',
    );
    return faults.length > 0 ? 1 : 0;
  }
  if (isEmpty || options.dryRun) return 0;
  output.report('nothing was removed; run "toolplane uninstall --yes" to remove everything listed');
  return 1;
}

/** Everything Toolplane has written; parts that stay, and files with the action `leave`, are not removed. */
type Plan = {
  readonly home: string;
  readonly parts: readonly (HomePart & { readonly stays: boolean })[];
  readonly others: HomeContent['others'];
  readonly files: readonly Undo[];
  /** Why the files of projects are not known. */
  readonly fault?: string;
};

function planRemoval(home: string, { keepSettings = false }: Options): Plan {
  const { parts, others } = homeContent(home);
  const { files, fault } = projectFiles(home);
  return {
    home,
    parts: parts.map((part) => ({ ...part, stays: keepSettings && part.isConfigured })),
    others,
    files: keepSettings ? files.map((file) => ({ ...file, action: 'leave' })) : files,
    ...(fault !== undefined && { fault }),
  };
}

/** Removes files of projects first, then those of the home directory; returns one line for each failure. */
function remove(home: string, { keepSettings = false }: Options): string[] {
  const faults = keepSettings ? [] : removeFromProjects(home);
  // The inventory is kept if a file of a project could not be removed, so that the next run finds it.
  const hasFailed = faults.length > 0;
  // Scanned again: editing files of projects takes locks in the home directory.
  for (const { kind, paths, directories, isConfigured } of homeContent(home).parts) {
    if ((keepSettings && isConfigured) || (hasFailed && kind === 'inventory')) continue;
    for (const path of paths) {
      try {
        rmSync(path, { force: true });
      } catch (cause) {
        faults.push(`cannot remove ${path}: ${messageOf(cause)}`);
      }
    }
    for (const directory of directories) removeIfEmpty(directory);
  }
  removeIfEmpty(home);
  return faults;
}

/** Asks once. The terminal stays in line mode, so Ctrl-C ends the process before anything is removed. */
async function confirm({ json, keepSettings }: Options): Promise<boolean> {
  const { stdin, stdout } = process;
  if (json || !stdin.isTTY || !stdout.isTTY) return false;
  const what = keepSettings ? 'conversations' : 'secrets and conversations';
  const question = `Remove everything listed? Removed ${what} cannot be restored. [y/N] `;
  const answer = await readLine(question, { input: stdin, output: stdout });
  if (answer.kind === 'text') return /^\s*y(es)?\s*$/i.test(answer.text);
  stdout.write('\n');
  return false;
}

function planDocument({ home, parts, others, files, fault }: Plan, faults: readonly string[]) {
  return {
    home: {
      path: home,
      parts: parts.map(({ kind, paths, bytes, stays }) => ({
        kind,
        paths,
        files: paths.length,
        bytes,
        stays,
      })),
      others,
    },
    files: files.map(({ edits: _, ...file }) => file),
    faults: [...(fault === undefined ? [] : [fault]), ...faults],
  };
}

function planText(plan: Plan, { keepSettings }: Options, columns: number | undefined): string[] {
  const { home, parts, others, files, fault } = plan;
  const rows = parts
    .filter(({ stays }) => !stays)
    .map(({ kind, places, paths, bytes }) => [
      kind,
      places.join(', '),
      paths.length === 0 ? 'empty' : `${pluralize(paths.length, 'file')}, ${formatBytes(bytes)}`,
    ]);
  const changed = files.filter(({ action }) => action !== 'leave').flatMap(undoLines);
  const kept = [
    ...(keepSettings
      ? []
      : files.flatMap(({ path, left }) => left.map(({ what, why }) => `${path}: ${what} (${why})`))),
    ...others.map((path) => `${path} (not written by Toolplane)`),
  ];
  return [
    ...(rows.length > 0 ? [`${home}:`, ...table(rows, { columns, indent: 2 })] : []),
    ...(changed.length > 0 ? ['in projects:', ...changed] : []),
    ...(kept.length > 0 ? ['kept:', ...kept.map((it) => `  ${it}`)] : []),
    ...(fault === undefined ? [] : [unknownFiles(fault)]),
  ];
}

function undoLines({ path, action, servers, rules, values }: Undo): string[] {
  if (action === 'remove') return [`  ${path}`];
  const parts = [...servers.map((name) => `the server "${name}"`), ...rules, ...values];
  return parts.map((part) => `  ${path}: ${part}`);
}
