import { cliWorld } from '../host/config-world.ts';
import { errorDocument, sayFailure } from '../host/failure.ts';
import { jsonText, lines } from '../host/lines.ts';
import { type Output, processOutput } from '../host/output.ts';
import { isConfirmed } from './ask.ts';
import { findTraces, type Traces } from './find-traces.ts';
import { removeTraces } from './remove-traces.ts';
import { goingOf, traceText } from './trace-text.ts';

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
    if (request.format === 'json') await output.print(jsonText(errorDocument(cause)));
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
      lines(isAnything ? text : [...text, `there is nothing to remove: ${NOTHING} ${home}`]),
    );
  }
  const isWanted = isAnything && (mode === 'yes' || (mode === 'ask' && (await isAgreed(request))));
  const faults = isWanted ? removeTraces(home, keep) : [];
  if (format === 'json') await output.print(jsonText(documentOf(traces, request, isWanted, faults)));
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
