import { nearest } from '../../base/nearest.ts';
import { startTimer } from '../../base/timer.ts';
import type { HostTool } from '../../host/host-options.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import { progressOf, progressText } from '../chat/progress.ts';
import { elapsed } from '../chat/tool-text.ts';
import { changedTools } from '../host/changed-tools.ts';
import { endLine, partsText } from '../host/content-parts.ts';
import { jsonText } from '../host/lines.ts';
import { NotUnderstood } from '../host/not-understood.ts';
import { saveParts } from '../host/save-parts.ts';
import type { ServerMap } from '../host/server-flags.ts';
import { type Connected, tellFaults, withHost } from '../host/with-host.ts';
import { buildArguments } from './build-arguments.ts';
import { missingLines } from './needed.ts';
import type { Input } from './read-input.ts';
import { resultParts } from './result-text.ts';

export type CallRequest = {
  readonly servers: ServerMap;
  readonly server: string;
  readonly tool: string;
  readonly input: Input;
  readonly format: 'text' | 'json';
  /** Where binary content goes. */
  readonly directory?: string;
  readonly timeoutMs?: number;
};

/** `toolplane call`; gives its exit code. */
export function startCall(request: CallRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost(request.servers, env, async (connected) => {
    if (tellFaults(connected) !== 0) return 1;
    const tool = toolOf(await connected.host.listTools(), request);
    const args = argumentsOf(connected, tool, request.input);
    for (const { text } of changedTools(request.servers, [tool], env)) {
      connected.output.tell(`${tool.server} ${tool.name}: ${text}`);
    }
    const result = await call(connected, request, args);
    return show(connected, request, result);
  });
}

function toolOf(tools: readonly HostTool[], { server, tool }: CallRequest): HostTool {
  const found = tools.find((it) => it.server === server && it.name === tool);
  if (found) return found;
  const names = tools.filter((it) => it.server === server).map(({ name }) => name);
  const meant = nearest(tool, names);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new NotUnderstood(`server ${server} has no tool "${tool}"${hint} (it has ${sayNames(names)})`);
}

const MOST_NAMES = 30;

function sayNames(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return names.slice(0, MOST_NAMES).join(', ') + more;
}

function argumentsOf(
  { output }: Connected,
  { server, name, inputSchema }: HostTool,
  { base, given }: Input,
): Record<string, unknown> {
  const { args, faults, notes } = buildArguments(base, given, inputSchema);
  const missing = missingLines(new Set([...Object.keys(args), ...given.map(({ key }) => key)]), inputSchema);
  if (faults.length + missing.length > 0) {
    throw new NotUnderstood(...[...faults, ...notes, ...missing].map((line) => `${server} ${name}: ${line}`));
  }
  for (const note of notes) output.tell(`${server} ${name}: ${note}`);
  return args;
}

async function call(
  { host, spinner, signal }: Connected,
  { server, tool, timeoutMs }: CallRequest,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  const late = new AbortController();
  const timer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, () => late.abort());
  const began = performance.now();
  let far = '';
  spinner.show(() => `${server} ${tool} ${elapsed(performance.now() - began)}${far}`);
  try {
    return await host.callTool(server, tool, args, {
      signal: AbortSignal.any([signal, late.signal]),
      onProgress: (told) => {
        const progress = progressOf(told);
        if (progress) far = ` · ${progressText(progress)}`;
      },
    });
  } catch (cause) {
    if (late.signal.aborted && !signal.aborted) {
      throw new Error(
        `${server} ${tool} took longer than ${timeoutMs} ms and was cancelled; raise --timeout`,
      );
    }
    throw cause;
  } finally {
    clearTimeout(timer);
    spinner.stop();
  }
}

/** What a tool says of its failure goes to stderr, so that a pipe gets results only. */
async function show(
  { output }: Connected,
  { format, tool, directory }: CallRequest,
  result: CallToolResult,
): Promise<number> {
  const code = result.isError === true ? 1 : 0;
  if (format === 'json') {
    await output.print(jsonText(result));
    return code;
  }
  const parts = resultParts(result);
  const text = partsText(directory === undefined ? parts : await saveParts(parts, directory, tool));
  if (code === 0) await output.print(text);
  else output.tell(`${tool} failed: ${endLine(text).trimEnd()}`);
  return code;
}
