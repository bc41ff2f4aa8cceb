import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { StdioServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectContext, Dialed } from '../../connection/connect-context.ts';
import { ThrottledWarnings } from '../../connection/repeated-warnings.ts';
import { credentialsOf, SecretMask } from '../../connection/secret-mask.ts';
import { HostError } from '../../errors/host-error.ts';
import { maxFrameBytesOf } from '../oversized-message.ts';
import { createStdoutWarnings } from './message-lines.ts';
import { serverEnvironment } from './server-environment.ts';
import { POSIX_PROCESSES } from './server-process.ts';
import { StdioTransport } from './stdio-transport.ts';
import { windowsProcesses } from './windows-processes.ts';

/** Creates the transport for a server process with a minimal environment. */
export async function dialStdio(
  name: string,
  entry: StdioServerEntry,
  context: ConnectContext,
): Promise<Dialed> {
  const { secrets = new SecretMask() } = context;
  secrets.addEntry(entry);
  // Inherited variables are as secret as those in the entry.
  secrets.addEntry({ env: namedVariables(entry, context) });
  const env = serverEnvironment(context.env, entry, process.platform);
  secrets.add([], credentialsOf({ env: addressesIn(env) }));
  const stdoutWarnings = createStdoutWarnings(name, context, secrets, (line) => transport.note(line));
  const messageWarnings = new ThrottledWarnings((what) => context.onUnexpectedOutput?.(name, what), secrets);
  const transport = new StdioTransport({
    processes: process.platform === 'win32' ? windowsProcesses() : POSIX_PROCESSES,
    command: {
      command: entry.command,
      args: entry.args ?? [],
      env,
      cwd: await directoryOf(name, entry, context),
    },
    maxFrameBytes: maxFrameBytesOf(entry, context),
    secrets,
    onStderr: (line) => context.onStderr?.(name, line),
    onUnexpectedOutput: (what, kind) => (kind === 'fault' ? messageWarnings : stdoutWarnings).report(what),
  });
  return { transport, close: () => transport.close(), stderr: () => transport.lastLines };
}

function namedVariables(
  { inheritEnv = [] }: StdioServerEntry,
  { env }: ConnectContext,
): Record<string, string> {
  return Object.fromEntries(inheritEnv.flatMap((it) => (env[it] === undefined ? [] : [[it, env[it]]])));
}

/** Variables that are URLs, such as proxies and registries: they are inherited and may contain a password. */
function addressesIn(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value.includes('://')));
}

/** The working directory, checked before the start: the system reports a missing directory as a missing command. */
async function directoryOf(name: string, entry: StdioServerEntry, context: ConnectContext): Promise<string> {
  const path = resolve(context.cwd ?? '.', entry.cwd ?? '.');
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return path;
  throw new HostError('bad-config', name, `"cwd" is not a directory: ${path}; correct it in the entry`);
}
