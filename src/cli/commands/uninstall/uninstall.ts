import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { cliWorld } from '../../host/config-context.ts';
import { ExitCode, errorDocument, sayFailure } from '../../output/failure.ts';
import { joinLines, jsonDocument, many, sized } from '../../output/format.ts';
import { type Output, processOutput } from '../../output/output.ts';
import { table } from '../../terminal/table.ts';
import type { HomePart } from './home-parts.ts';
import { findTraces, removeTraces, type Traces } from './traces.ts';
import type { Undo } from './undo-file.ts';

const HELP = `
Lists all that Toolplane ever wrote and is still there, and removes it once you agree:

  settings, secrets, choices, conversations, pins and cache in ~/.toolplane (or in TOOLPLANE_HOME)
  files in projects that Toolplane made, if nothing else has come into them
  servers, rules and modes that it added to files of projects, if they are still as it wrote them

What was changed since, and what is not Toolplane's, is named and stays.

  toolplane uninstall                  look, and decide
  toolplane uninstall --dry-run        look only
  toolplane uninstall --yes            remove everything without a question
  toolplane uninstall --keep-settings  only conversations, pins and cache; what you configured stays

Exit codes:
  0  done, or there is nothing to remove
  1  nothing was removed, since nobody said yes, or something could not be; stderr says why
  2  the command was not understood`;

type Values = { yes?: true; dryRun?: true; json?: true; keepSettings?: true };

/** `toolplane uninstall`: everything we ever wrote, and its end. */
export function defineUninstall(command: Command): void {
  command
    .addOption(new Option('--yes', 'remove it without a question').conflicts('dryRun'))
    .option('--dry-run', 'list it and remove nothing')
    .option('--keep-settings', 'keep settings, secrets, choices and what was written into projects')
    .option('--json', 'one JSON document with everything; nothing is asked')
    .addHelpText('after', HELP)
    .action(async ({ yes, dryRun, json, keepSettings }: Values) => {
      const request = {
        format: json ? 'json' : 'text',
        mode: dryRun ? 'dry-run' : yes ? 'yes' : 'ask',
        keep: keepSettings ? 'settings' : 'nothing',
      } as const;
      const code = await startUninstall(request, process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

export type UninstallRequest = {
  readonly format: 'text' | 'json';
  /** `ask`: a person at a terminal decides; without one nothing is removed. */
  readonly mode: 'ask' | 'yes' | 'dry-run';
  readonly keep: 'nothing' | 'settings';
};

const NOTHING = 'Toolplane has left nothing of that kind in projects or in';
const PROGRAM = 'the program itself goes with "npm uninstall -g toolplane"';

/** `toolplane uninstall`; gives its exit code. */
export async function startUninstall(request: UninstallRequest, env: NodeJS.ProcessEnv): Promise<number> {
  const output = processOutput(env, () => {});
  try {
    return await uninstall(request, cliWorld(env).home, output);
  } catch (cause) {
    for (const line of sayFailure(cause)) output.tell(line);
    if (request.format === 'json') await output.print(jsonDocument(errorDocument(cause)));
    return 1;
  }
}

async function uninstall(request: UninstallRequest, home: string, output: Output): Promise<number> {
  const { format, mode, keep } = request;
  const traces = findTraces(home);
  const { parts, files } = goingOf(traces, keep);
  const isAnything = parts.length + files.length > 0;
  if (format === 'text') {
    const text = traceText(traces, keep, output.columns);
    await output.print(
      joinLines(isAnything ? text : [...text, `there is nothing to remove: ${NOTHING} ${home}`]),
    );
  }
  const isWanted = isAnything && (mode === 'yes' || (mode === 'ask' && (await isAgreed(request))));
  const faults = isWanted ? removeTraces(home, keep) : [];
  if (format === 'json') await output.print(jsonDocument(documentOf(traces, request, isWanted, faults)));
  for (const fault of faults) output.tell(fault);
  if (isWanted) {
    output.tell(faults.length > 0 ? 'not everything could be removed' : `removed; ${PROGRAM}`);
    return faults.length > 0 ? 1 : 0;
  }
  if (!isAnything || mode === 'dry-run') return 0;
  output.tell('nothing was removed; run "toolplane uninstall --yes" to remove all this');
  return 1;
}

/** Who asks for a document is a program. */
async function isAgreed({ format, keep }: UninstallRequest): Promise<boolean> {
  const { stdin, stdout } = process;
  if (format === 'json' || !stdin.isTTY || !stdout.isTTY) return false;
  const what = keep === 'settings' ? 'conversations' : 'secrets and conversations';
  return isConfirmed(`Remove all this? The ${what} go too, and cannot be had back. [y/N] `, stdin, stdout);
}

function documentOf(
  { home, content, files, fault }: Traces,
  { keep }: UninstallRequest,
  isRemoved: boolean,
  faults: readonly string[],
) {
  return {
    removed: isRemoved && faults.length === 0,
    home: {
      path: home,
      parts: content.parts.map(({ kind, paths, bytes, isConfigured }) => ({
        kind,
        paths,
        files: paths.length,
        bytes,
        stays: keep === 'settings' && isConfigured,
      })),
      others: content.others.map(({ path }) => path),
    },
    files: files.map(({ path, action, servers, rules, values, left }) => ({
      path,
      action: keep === 'settings' ? 'leave' : action,
      servers,
      rules,
      values,
      left,
    })),
    faults: [...(fault === undefined ? [] : [fault]), ...faults],
  };
}

/**
 * Asks once; only a clear yes is one. The terminal stays as it is, so Ctrl-C ends the process as it would any other,
 * before anything was done.
 */
export async function isConfirmed(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  output.write(question);
  const lines = createInterface({ input, terminal: false });
  for await (const line of lines) {
    lines.close();
    return /^\s*y(es)?\s*$/i.test(line);
  }
  output.write('\n');
  return false;
}

/** What goes of all that was found. */
export function goingOf({ content, files }: Traces, keep: 'nothing' | 'settings') {
  return {
    parts: content.parts.filter((it) => keep === 'nothing' || !it.isConfigured),
    files: keep === 'nothing' ? files.filter(({ action }) => action !== 'leave') : [],
  };
}

/** What would go and what would stay, as lines for people. */
export function traceText(
  traces: Traces,
  keep: 'nothing' | 'settings',
  columns: number | undefined,
): string[] {
  const { home, content, files, fault } = traces;
  const going = goingOf(traces, keep);
  const parts = going.parts.map((it) => [it.kind, it.places.join(', '), figures(it)]);
  const left = [
    ...(keep === 'nothing' ? files.flatMap(leftOf) : []),
    ...content.others.map(({ path, why }) => `${path} (${why})`),
  ];
  return [
    ...(parts.length > 0 ? [`${home}:`, ...table(parts, { columns, indent: 2 })] : []),
    ...(going.files.length > 0 ? ['in projects:', ...going.files.flatMap(undoLines)] : []),
    ...(left.length > 0 ? ['stays:', ...left.map((it) => `  ${it}`)] : []),
    ...(fault === undefined ? [] : [`what was written into projects is not known: ${fault}`]),
  ];
}

function figures({ paths, bytes }: HomePart): string {
  return paths.length === 0 ? 'empty' : `${many(paths.length, 'file')}, ${sized(bytes)}`;
}

function undoLines({ path, action, servers, rules, values }: Undo): string[] {
  if (action === 'remove') return [`  ${path}`];
  return [
    ...servers.map((name) => `  ${path}: the server "${name}"`),
    ...[...rules, ...values].map((it) => `  ${path}: ${it}`),
  ];
}

function leftOf({ path, left }: Undo): string[] {
  return left.map(({ what, why }) => `${path}: ${what} (${why})`);
}
