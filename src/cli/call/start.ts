import { startTimer } from '../../base/async/timers.ts';
import type { HostTool } from '../../host/host-options.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import { progressOf, progressText } from '../chat/progress.ts';
import { elapsed } from '../chat/tool-text.ts';
import { changedTools, sayChange } from '../host/changed-tools.ts';
import { endLine, partsText } from '../host/content-parts.ts';
import { Failed } from '../host/failure.ts';
import { jsonText } from '../host/lines.ts';
import { makeDirectory } from '../host/make-directory.ts';
import type { NamedServers } from '../host/named-servers.ts';
import { NotUnderstood } from '../host/not-understood.ts';
import { saveParts } from '../host/save-parts.ts';
import { type Connected, needServers, withHost } from '../host/with-host.ts';
import { buildArguments } from './build-arguments.ts';
import { schemaError, schemaFaults } from './check-schema.ts';
import { answerElicitation } from './elicitation.ts';
import { findTool } from './find-tool.ts';
import { missingLines } from './needed.ts';
import type { Input } from './read-input.ts';
import { resultParts } from './result-text.ts';

export type CallRequest = NamedServers & {
  readonly server: string;
  readonly tool: string;
  readonly input: Input;
  readonly format: 'text' | 'json';
  /** Whether what the schema refuses is refused here. */
  readonly checks: 'schema' | 'none';
  /** Where binary content goes. */
  readonly directory?: string;
  readonly timeoutMs?: number;
};

/** `toolplane call`; gives its exit code. */
export function startCall(request: CallRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost({ ...request, elicitation: answerElicitation }, env, async (connected) => {
    needServers(connected);
    const tools = await connected.host.listTools();
    const tool = findTool(tools, { ...request, warnings: connected.warnings });
    const args = await argumentsOf(connected, tool, request);
    if (request.directory !== undefined) await makeDirectory(request.directory);
    const { tell } = connected.output;
    const listed = tools.filter(({ server }) => server === tool.server);
    const changes = changedTools(request.servers, listed, env, tell);
    const change = changes.find((it) => it.tool === tool.name);
    // Whoever types the name of a new tool means it; whoever types that of a changed one may not know.
    if (change?.before) throw new Failed(`${tool.server} ${tool.name}: ${sayChange(change)}`, 'tool-changed');
    if (change) tell(`${tool.server} ${tool.name}: ${sayChange(change)}`);
    const named = { ...request, tool: tool.name };
    return show(connected, named, await call(connected, named, args));
  });
}

/** What was typed, as the tool takes it; with `unchecked`, what only the schema has against it is told and no more. */
async function argumentsOf(
  { output }: Connected,
  { server, name, inputSchema }: HostTool,
  { input: { base, given }, checks }: CallRequest,
): Promise<Record<string, unknown>> {
  const say = (line: string) => `${server} ${name}: ${line}`;
  const invalid = await schemaError(inputSchema);
  if (invalid !== undefined) {
    const typed = buildArguments(base, given, inputSchema);
    const { args, unreadable } = typed.unreadable.length > 0 ? buildArguments(base, given, {}) : typed;
    if (unreadable.length > 0) throw new NotUnderstood(...unreadable.map(say));
    output.tell(
      say(
        `its schema is invalid at ${invalid}, so the arguments are not checked here; the server checks them`,
      ),
    );
    return args;
  }
  const { args, unreadable, faults, notes } = buildArguments(base, given, inputSchema);
  const named = new Set([...Object.keys(args), ...given.map(({ key }) => key)]);
  const found = [...faults, ...missingLines(named, inputSchema)];
  if (unreadable.length + found.length === 0) found.push(...(await schemaFaults(args, inputSchema)));
  if (unreadable.length > 0 || (found.length > 0 && checks === 'schema')) {
    throw new NotUnderstood(...[...unreadable, ...faults, ...notes, ...found.slice(faults.length)].map(say));
  }
  for (const line of [...found, ...notes]) output.tell(say(line));
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
      const told = `${server} ${tool} took longer than ${timeoutMs} ms and was cancelled; raise --timeout`;
      throw new Failed(told, 'timeout');
    }
    throw cause;
  } finally {
    clearTimeout(timer);
    spinner.stop();
  }
}

/** What a tool says of its failure goes to stderr, so that a pipe gets results only. */
async function show(
  { output, signal }: Connected,
  { format, tool, directory }: CallRequest,
  result: CallToolResult,
): Promise<number> {
  const failed = result.isError === true;
  const saved =
    directory === undefined ? undefined : await saveParts(resultParts(result), directory, tool, signal);
  const text = () => partsText(saved?.parts ?? resultParts(result));
  if (format === 'json') await output.print(jsonText({ ...result, ...(saved && { files: saved.files }) }));
  else if (!failed) await output.print(text());
  else output.tell(`${tool} failed: ${endLine(text()).trimEnd()}`);
  for (const fault of saved?.faults ?? []) output.tell(fault);
  return failed || (saved?.faults.length ?? 0) > 0 ? 1 : 0;
}
