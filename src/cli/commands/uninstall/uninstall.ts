import { rmSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { pluralize } from '../../../base/text/display-text.ts';
import type { ConfigContext } from '../../../config/config-context.ts';
import { removeStoredKey } from '../../../config/secrets/secret-store.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { cliContext } from '../../host/named-servers.ts';
import { exitWith, reportFailure } from '../../output/failure.ts';
import { formatBytes, joinLines, jsonDocument } from '../../output/format.ts';
import { type Output, processOutput } from '../../output/output.ts';
import { readLine } from '../../terminal/line-editor.ts';
import { table } from '../../terminal/table.ts';
import { type HomeContent, type HomePart, homeContent, useFault } from './home-content.ts';
import { projectFiles, removeFromProjects, removeIfEmpty, type Undo, unknownFiles } from './project-files.ts';

const HELP = `
Lists the files and entries that Toolplane wrote and that still exist, and removes them after confirmation:

  in ~/.toolplane (or TOOLPLANE_HOME):
    settings, secrets, approvals of project files and of scheduled prompts
    the notes that the model keeps about projects (auto memory), and plans
    conversations with their results, sub-agents and file checkpoints, and the prompt history of the chat
    task lists, mailboxes of teams, and messages of channels
    accepted tools, caches, empty directories of servers, and lock files
  files that Toolplane created in projects, if they contain nothing else
  servers, rules and modes that Toolplane added to files of projects, if they are unchanged

Content that was changed since, or that the command does not recognize, is listed and kept. Scheduled prompts, teams and
messages of channels that a running process uses are reported and kept until it ends.

  toolplane uninstall                  list, then ask
  toolplane uninstall --dry-run        list only
  toolplane uninstall --yes            remove everything without asking
  toolplane uninstall --keep-settings  keep settings, secrets, approvals, auto memory, plans and files of projects;
                                       remove conversations, the prompt history, task lists, mailboxes, messages of
                                       channels, accepted tools, caches, empty directories of servers, and lock files

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
    .option('--keep-settings', 'keep settings, secrets, approvals, auto memory, plans and project files')
    .option('--json', 'print one JSON document; never ask')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      exitWith(await startUninstall(options, process.env));
    });
}

async function startUninstall(options: Options, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  try {
    return await uninstall(options, cliContext(env), output);
  } catch (cause) {
    return reportFailure(cause, output, options.json ? 'json' : 'text');
  }
}

async function uninstall(options: Options, context: ConfigContext, output: Output): Promise<number> {
  const { home } = context;
  const plan = planRemoval(home, options);
  const isEmpty =
    plan.parts.every(({ stays }) => stays) && plan.files.every(({ action }) => action === 'leave');
  if (!options.json) {
    const text = planText(plan, options, output.columns);
    await output.print(joinLines(isEmpty ? [...text, `nothing to remove in projects or in ${home}`] : text));
  }
  const isConfirmed = !isEmpty && !options.dryRun && (options.yes || (await confirm(options)));
  const faults = isConfirmed ? await remove(context, options) : [];
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
    parts: parts.map((part) => ({ ...part, stays: keepSettings && part.isKept })),
    others,
    files: keepSettings ? files.map((file) => ({ ...file, action: 'leave' })) : files,
    ...(fault !== undefined && { fault }),
  };
}

/** Removes files of projects first, then those of the home directory; returns one line for each failure. */
async function remove(context: ConfigContext, { keepSettings = false }: Options): Promise<string[]> {
  const { home } = context;
  const faults = keepSettings ? [] : removeFromProjects(home);
  // The inventory is kept if a file of a project could not be removed, so that the next run finds it.
  const hasFailed = faults.length > 0;
  // The home directory is scanned again, since editing files of projects creates lock files in it.
  for (const part of homeContent(home).parts) {
    const { kind, paths, directories, isKept } = part;
    if ((keepSettings && isKept) || (hasFailed && kind === 'inventory')) continue;
    const fault = await useFault(part);
    if (fault !== undefined) {
      faults.push(fault);
      continue;
    }
    if (kind === 'secrets') faults.push(...removeKey(context));
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

function removeKey(context: ConfigContext): string[] {
  try {
    removeStoredKey(context);
    return [];
  } catch (cause) {
    return [messageOf(cause)];
  }
}

/** Asks once. The terminal stays in line mode, so Ctrl-C ends the process before anything is removed. */
async function confirm({ json, keepSettings }: Options): Promise<boolean> {
  const { stdin, stdout } = process;
  if (json || !stdin.isTTY || !stdout.isTTY) return false;
  const what = keepSettings ? 'conversations' : 'secrets, conversations, auto memory and plans';
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
    ...others.map((path) => `${path} (not recognized; remove it yourself if you do not need it)`),
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
