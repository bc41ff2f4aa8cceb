import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadedConfiguration } from '../../config/running-configuration.ts';
import type { Host } from '../../host/host.ts';
import type { HostAnswer, HostHandlers, HostTool } from '../../host/host-options.ts';
import {
  isTrustedEntry,
  type ServerEntry,
  type WarningSubject,
} from '../../mcp/connection/connect-context.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import { placeOf } from '../../pool/pinning/pin-watch.ts';
import { openPins } from '../../pool/pinning/pins.ts';
import { acceptCommand, type ToolChange } from '../../pool/pinning/tool-change.ts';
import type { ServerMap } from '../flags/server-flags.ts';
import { CommandFailed, reportFailure } from '../output/failure.ts';
import { joinLines, jsonDocument } from '../output/format.ts';
import { type Output, processOutput } from '../output/output.ts';
import { formatProgress, Spinner } from '../terminal/spinner.ts';
import type { NamedServers, NotStarted } from './named-servers.ts';

/** The host with its servers connected or failed, and the output of the command. */
export type Connected = {
  readonly host: Host;
  readonly output: Output;
  readonly spinner: Spinner;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** Warnings of servers so far. */
  readonly warnings: readonly Warning[];
  /** Servers that may not be started. */
  readonly notStarted: readonly NotStarted[];
};

/** The servers to connect, and the format of a failure. */
type Needed = Pick<NamedServers, 'servers' | 'configuration'> &
  Partial<Pick<NamedServers, 'notStarted'>> & {
    readonly format: string;
    /** Answers elicitation requests; without it they are declined. */
    readonly elicitation?: (place: Pick<Connected, 'output' | 'spinner'>) => HostAnswer;
  };

export type Warning = {
  readonly server: string;
  readonly message: string;
  readonly subject?: WarningSubject;
};

/** Connects the servers, runs `work`, and closes them; returns the exit code. With `--json` a failure is a document too. */
export async function withHost(
  { servers, configuration, notStarted = [], format, elicitation }: Needed,
  env: NodeJS.ProcessEnv,
  work: (connected: Connected) => Promise<number>,
): Promise<number> {
  const ended = new AbortController();
  const streams = processOutput(env, () => ended.abort(1));
  let hasPrinted = false;
  const print = (text: string) => {
    hasPrinted = true;
    return streams.print(text);
  };
  const output = { ...streams, print };
  using _signals = abortOnSignals(ended);
  using spinner = new Spinner(output.spinnerTerminal);
  const { signal } = ended;
  try {
    const { createHost } = await import('../../entry/host.ts');
    const use = { only: Object.keys(servers), changes: 'once' } as const;
    await using host = createHost({
      configuration: loadedConfiguration(configuration, use),
      cacheDirectory: join(homeDirectory(env), 'cache'),
      handlers: sessionHandlers(configuration.context.cwd, elicitation?.({ output, spinner })),
    });
    const warnings: Warning[] = [];
    let text = `connecting ${Object.keys(servers).join(', ')}`;
    using _events = host.events.on((event) => {
      if (event.type === 'progress') text = formatProgress(event);
      if (event.type === 'warning') warnings.push(event);
    });
    spinner.show(() => text);
    // Failures are ignored here: the status of each server contains its failure.
    await host.ready({ servers: Object.keys(servers), signal }).catch(() => {});
    spinner.stop();
    signal.throwIfAborted();
    return await work({ host, output, spinner, signal, warnings, notStarted });
  } catch (cause) {
    spinner.stop();
    if (signal.aborted) return typeof signal.reason === 'number' ? signal.reason : 1;
    return reportFailure(cause, output, format === 'json' && !hasPrinted ? 'json' : 'text');
  }
}

/** The directory of Toolplane's own files. */
export function homeDirectory(env: NodeJS.ProcessEnv): string {
  return env.TOOLPLANE_HOME || join(env.HOME || homedir(), '.toolplane');
}

/** Why a server is not connected; undefined if it is. */
export function connectFault({ state, cause }: ServerStatus): string | undefined {
  if (state === 'connected') return undefined;
  return cause ? cause.detail : state;
}

/** Reports servers that cannot be used; returns the exit code. A server that is pending approval is not a failure. */
export function reportFailures({
  host,
  output,
  notStarted,
}: Pick<Connected, 'host' | 'output' | 'notStarted'>): 0 | 1 {
  let code: 0 | 1 = notStarted.some(isFailure) ? 1 : 0;
  for (const { why } of notStarted) output.report(why);
  for (const [server, status] of Object.entries(host.status())) {
    const fault = connectFault(status);
    if (fault === undefined) continue;
    output.report(`server ${server}: ${fault}`);
    code = 1;
  }
  return code;
}

function isFailure({ state, isAsked }: NotStarted): boolean {
  return isAsked || state === 'broken' || state === 'blocked';
}

/** Throws if a server of the command cannot be used. */
export function requireServers({ host, notStarted }: Pick<Connected, 'host' | 'notStarted'>): void {
  for (const { why } of notStarted) throw new CommandFailed(why, 'bad-config');
  for (const [server, status] of Object.entries(host.status())) {
    const fault = connectFault(status);
    if (fault !== undefined) throw new CommandFailed(`server ${server}: ${fault}`, status.cause?.code);
  }
}

/** Prints a list of all servers and reports its warnings and the servers that failed; returns the exit code. */
export async function printList<T>(
  connected: Connected,
  format: 'text' | 'json',
  key: string,
  list: (options: { readonly signal: AbortSignal }) => Promise<readonly T[]>,
  table: (items: readonly T[], columns: number | undefined) => string[],
): Promise<number> {
  const { output, signal, warnings } = connected;
  // Earlier warnings concern other lists.
  const known = warnings.length;
  const items = await list({ signal });
  await output.print(
    format === 'json' ? jsonDocument({ [key]: items }) : joinLines(table(items, output.columns)),
  );
  for (const { server, message } of warnings.slice(known)) output.report(`server ${server}: ${message}`);
  return reportFailures(connected);
}

/** The first signal aborts the work; a second SIGINT exits immediately. */
export function abortOnSignals(ended: AbortController): Disposable {
  return onSignals({
    SIGINT() {
      if (ended.signal.aborted) process.exit(130);
      ended.abort(130);
    },
    SIGTERM: () => ended.abort(143),
    SIGHUP: () => ended.abort(129),
  });
}

/**
 * Declares the client capabilities of a session to every server: elicitation, sampling, and the workspace as a root. Some servers list a
 * tool only to clients with these capabilities, so that commands show the tools that an agent gets.
 */
function sessionHandlers(cwd: string, elicitation: HostAnswer = decline): HostHandlers {
  return {
    elicitation,
    sampling: async () => {
      throw new Error('this command has no model; sampling is possible in a conversation with an agent');
    },
    roots: [{ uri: pathToFileURL(cwd).href, name: 'workspace' }],
  };
}

const decline: HostAnswer = () => ({ action: 'decline' });

/** Tools that differ from the accepted definitions. They are recorded as pending; this accepts nothing. */
export function changedTools(
  servers: ServerMap,
  tools: readonly HostTool[],
  env: NodeJS.ProcessEnv,
  note: (text: string) => void,
): readonly ToolChange[] {
  const pins = openPins(join(homeDirectory(env), 'pins'), { note });
  return [...Map.groupBy(tools, ({ server }) => server)].flatMap(([server, its]) => {
    const entry = servers[server] as ServerEntry;
    const place = placeOf(entry, process.cwd());
    if (place === undefined) return [];
    return pins.observe({ server, place, isTrusted: isTrustedEntry(entry) }, its, 'leave').changes;
  });
}

/** The difference, and the command that accepts it. */
export function formatChange(change: ToolChange): string {
  return `${change.text}; to accept it: ${acceptCommand(change)}`;
}
/** Calls a listener for each signal until the result is disposed of. */
export function onSignals(listeners: Partial<Record<NodeJS.Signals, () => void>>): Disposable {
  const all = Object.entries(listeners);
  for (const [name, listener] of all) process.on(name, listener);
  return {
    [Symbol.dispose]() {
      for (const [name, listener] of all) process.off(name, listener);
    },
  };
}
