import { type Command, Option } from 'commander';
import { startTimer } from '../../../base/async/timers.ts';
import type { HostAnswer, HostTool } from '../../../host/host-options.ts';
import type { CallToolResult } from '../../../protocol/mcp.ts';
import type { ElicitationRequest } from '../../../sdk/options/options.ts';
import { openInBrowser } from '../../chat/mcp-command.ts';
import { elapsed, parseProgress, progressText } from '../../chat/message-text.ts';
import { elicitationAsker } from '../../chat/questions/elicitation.ts';
import { Questions } from '../../chat/questions/questions.ts';
import { milliseconds, usageError } from '../../flags/flag-values.ts';
import { addServerFlags } from '../../flags/server-flags.ts';
import { type NamedServers, namedServers } from '../../host/named-servers.ts';
import {
  type Connected,
  changedTools,
  formatChange,
  requireServers,
  withHost,
} from '../../host/with-host.ts';
import { endLine, makeDirectory, partsText, resultParts, saveParts } from '../../output/content-parts.ts';
import { CommandFailed, exitWith, UsageError } from '../../output/failure.ts';
import { jsonDocument } from '../../output/format.ts';

import { readLine } from '../../terminal/line-editor.ts';
import { line, type Piece, render } from '../../terminal/render.ts';
import { callTarget, findTool } from './find-tool.ts';
import { convertArguments, type Input, readArguments } from './read-arguments.ts';

import { SchemaForms } from './schema-forms.ts';
import { schemaError, unknownArguments, validateArguments } from './validate.ts';

const HELP = `
Connects the server, calls the tool, and prints the result. Arguments are one JSON object, or words:

  key=value     converted to the type in the tool's schema
  key=a key=b   a list, where the schema expects one; also key='["a","b"]'
  a.b=1         a field of a nested object
  key:=json     exactly this JSON
  key=@file     the content of the file
  -             a JSON object from stdin; words are added to it

  toolplane call files read_text_file path=README.md
  toolplane call mcp__files__read_text_file path=README.md      the same, by the full name
  toolplane call github create_issue '{"title": "It breaks"}' labels=bug labels=urgent
  toolplane call --mcp-config servers.json files read_text_file path=README.md head=5
  jq '{query: .text}' note.json | toolplane call --url http://127.0.0.1:3000/mcp server search -

Arguments are validated against the tool's schema; invalid and unknown arguments are reported and the tool is not called.
With --unchecked they are reported and the tool is called anyway. Text is printed as received; for images, audio and
other data one line shows type and size, and --output saves them. A tool's failure message goes to stderr. Ctrl-C
cancels the call. If the server requests input (elicitation), you are asked on the terminal; without one the request is
declined.

Exit codes:
  0    the tool returned a result
  1    the tool or its server failed; the reason is on stderr
  2    usage error: unknown server, tool or argument, missing or wrongly typed argument
  130  interrupted (129, 143: hangup, termination)`;

type Values = { json?: true; output?: string; timeout?: number; unchecked?: true };

/** `toolplane call`: calls one tool. */
export function defineCall(command: Command): void {
  addServerFlags(command)
    .usage('[options] <server> <tool> [arguments...]')
    .argument('<server>', 'the server; or, in place of <server> <tool>, the full name mcp__<server>__<tool>')
    .argument('[tool]', 'the name of the tool on the server, or its full name')
    .argument('[arguments...]', 'a JSON object, key=value, key:=json, key=@file, or - for stdin')
    .option('--json', 'print the result as received')
    .option(
      '-o, --output <directory>',
      'save images, audio and other binary content to files in this directory',
    )
    .option('--unchecked', 'call the tool even if its schema does not accept the arguments')
    .addOption(
      new Option('--timeout <ms>', 'cancel the call after this number of milliseconds').argParser(
        milliseconds,
      ),
    )
    .addHelpText('after', HELP)
    .action(
      async (first: string, second: string | undefined, more: string[], values: Values, command: Command) => {
        const given = [first, ...(second === undefined ? [] : [second]), ...more];
        let target = callTarget(given, []);
        const named = await namedServers(command, (known) => {
          target = callTarget(given, known);
          return [target.server];
        });
        const { server, tool, words } = target;
        if (tool === undefined) return usageError(command, "missing required argument 'tool'");
        const input = await readArguments(words, process.stdin);
        if (input.faults.length > 0) usageError(command, input.faults.join('; '));
        const request = {
          ...named,
          server,
          tool,
          input,
          format: values.json ? 'json' : 'text',
          checks: values.unchecked ? 'none' : 'schema',
          ...(values.output !== undefined && { directory: values.output }),
          ...(values.timeout !== undefined && { timeoutMs: values.timeout }),
        } as const;
        exitWith(await startCall(request, process.env));
      },
    );
}

export type CallRequest = NamedServers & {
  readonly server: string;
  readonly tool: string;
  readonly input: Input;
  readonly format: 'text' | 'json';
  /** Whether invalid arguments are refused. */
  readonly checks: 'schema' | 'none';
  /** The directory for binary content. */
  readonly directory?: string;
  readonly timeoutMs?: number;
};

/** Runs `toolplane call`; returns its exit code. */
export function startCall(request: CallRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost({ ...request, elicitation: answerElicitation }, env, async (connected) => {
    requireServers(connected);
    const tools = await connected.host.listTools();
    const tool = findTool(tools, { ...request, warnings: connected.warnings });
    const args = await argumentsOf(connected, tool, request);
    if (request.directory !== undefined) await makeDirectory(request.directory);
    const { report } = connected.output;
    const listed = tools.filter(({ server }) => server === tool.server);
    const changes = changedTools(request.servers, listed, env, report);
    const change = changes.find((it) => it.tool === tool.name);
    // A new tool is called, since the user named it; a changed tool is not, since the user may not expect the change.
    if (change?.before)
      throw new CommandFailed(`${tool.server} ${tool.name}: ${formatChange(change)}`, 'tool-changed');
    if (change) report(`${tool.server} ${tool.name}: ${formatChange(change)}`);
    const named = { ...request, tool: tool.name };
    return show(connected, named, await call(connected, named, args));
  });
}

/** Converts and validates the arguments. Problems are reported and, unless unchecked, refused. */
async function argumentsOf(
  { output }: Connected,
  { server, name, inputSchema }: HostTool,
  { input, checks }: CallRequest,
): Promise<Record<string, unknown>> {
  const withName = (line: string) => `${server} ${name}: ${line}`;
  const { args, faults } = convertArguments(input, inputSchema);
  if (faults.length > 0) throw new UsageError(...faults.map(withName));
  const invalid = await schemaError(inputSchema);
  if (invalid !== undefined) {
    output.report(
      withName(`the tool's input schema is invalid at ${invalid}; arguments are sent without validation`),
    );
    return args;
  }
  const { refused = [], allowed = [] } = Object.groupBy(
    unknownArguments(args, new SchemaForms(inputSchema)),
    ({ isAllowed }) => (isAllowed ? 'allowed' : 'refused'),
  );
  const notes = allowed.map(({ text }) => text);
  const invalidArgs = await validateArguments(args, inputSchema);
  const problems = [...new Set([...refused.map(({ text }) => text), ...invalidArgs])];
  const lines = [...notes, ...problems].map(withName);
  if (problems.length > 0 && checks === 'schema') throw new UsageError(...lines);
  for (const line of lines) output.report(line);
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
      onProgress: (message) => {
        const progress = parseProgress(message);
        if (progress) far = ` · ${progressText(progress)}`;
      },
    });
  } catch (cause) {
    if (late.signal.aborted && !signal.aborted) {
      const message = `${server} ${tool} timed out after ${timeoutMs} ms and was cancelled; increase --timeout`;
      throw new CommandFailed(message, 'timeout');
    }
    throw cause;
  } finally {
    clearTimeout(timer);
    spinner.stop();
  }
}

/** A failure message goes to stderr, so that a pipe receives results only. */
async function show(
  { output, signal }: Connected,
  { format, tool, directory }: CallRequest,
  result: CallToolResult,
): Promise<number> {
  const failed = result.isError === true;
  const saved =
    directory === undefined ? undefined : await saveParts(resultParts(result), directory, tool, signal);
  const text = () => partsText(saved?.parts ?? resultParts(result));
  if (format === 'json')
    await output.print(jsonDocument({ ...result, ...(saved && { files: saved.files }) }));
  else if (!failed) await output.print(text());
  else output.report(`${tool} failed: ${endLine(text()).trimEnd()}`);
  for (const fault of saved?.faults ?? []) output.report(fault);
  return failed || (saved?.faults.length ?? 0) > 0 ? 1 : 0;
}

const COMMANDS =
  '/decline declines the request, /mute all requests of the server, Ctrl-C ends the command. To enter an answer that starts with /, type // instead.';

type Streams = Pick<NodeJS.Process, 'stdin' | 'stderr'>;

/**
 * Answers elicitation requests during `toolplane call`. With a terminal on stdin and stderr the user is asked there, one
 * request at a time, and stdout keeps the result alone. Without one the request is declined and reported.
 */
export function answerElicitation(
  { output, spinner }: Pick<Connected, 'output' | 'spinner'>,
  { stdin, stderr }: Streams = process,
): HostAnswer {
  if (!stdin.isTTY || !stderr.isTTY) {
    const reported = new Set<string>();
    return (params, { server }) => {
      // One line for each server, however many requests the server sends.
      if (reported.has(server)) return { action: 'decline' };
      reported.add(server);
      output.report(
        `server ${server}: input request declined because stdin and stderr are not a terminal; message: ${textOf(params.message)}`,
      );
      return { action: 'decline' };
    };
  }
  const print = (pieces: readonly Piece[]) => {
    const look = { columns: stderr.columns || 80, hasColors: false };
    for (const piece of pieces) stderr.write(`${render(piece, look)}\n`);
  };
  const read = (prompt: string, _: unknown, signal?: AbortSignal) =>
    readLine(prompt, { input: stdin, output: stderr }, signal);
  const questions = new Questions({
    // The terminal stays in line mode: no line is ever partly typed.
    editor: { read, untilNotTyping: async () => {} },
    print,
    command: async (text) => print([line(`Unknown command ${text}. ${COMMANDS}`)]),
  });
  const ask = elicitationAsker(questions, { open: openInBrowser, pause: () => spinner.pause() });
  return async (params, { server, signal }) => {
    const request = { ...params, serverName: server, message: textOf(params.message) };
    return ask(request as ElicitationRequest, signal);
  };
}

function textOf(message: unknown): string {
  return typeof message === 'string' ? message : '';
}
