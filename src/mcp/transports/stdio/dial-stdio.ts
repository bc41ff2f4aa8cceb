import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { StdioServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectWorld, Dialed } from '../../connection/connect-context.ts';
import { credentialsOf, Secrets } from '../../connection/secrets.ts';
import { NoiseTeller } from '../../connection/warnings.ts';
import { HostError } from '../../errors/host-error.ts';
import { maxFrameBytesOf } from '../oversized-message.ts';
import { leastEnvironment } from './server-environment.ts';
import { POSIX_PROCESSES } from './server-process.ts';
import { StdioTransport } from './stdio-transport.ts';
import { windowsProcesses } from './windows-processes.ts';

/** Reaches a server by running it, with the least environment and its stderr listened to. */
export async function dialStdio(name: string, entry: StdioServerEntry, world: ConnectWorld): Promise<Dialed> {
  const { secrets = new Secrets() } = world;
  secrets.addEntry(entry);
  // What it inherits by name is as much its own as what its entry says.
  secrets.addEntry({ env: namedVariables(entry, world) });
  const env = leastEnvironment(world.env, entry, process.platform);
  secrets.add([], credentialsOf({ env: addressesIn(env) }));
  const noise = new NoiseTeller((what) => {
    // Many a server says on stdout why it will not run.
    transport.note(`(stdout) ${what}`);
    world.onNoise?.(name, `non-protocol output on stdout: ${what}`, { kind: 'stdout', output: what });
  }, secrets);
  const faults = new NoiseTeller((what) => world.onNoise?.(name, what), secrets);
  const transport = new StdioTransport({
    processes: process.platform === 'win32' ? windowsProcesses() : POSIX_PROCESSES,
    command: {
      command: entry.command,
      args: entry.args ?? [],
      env,
      cwd: await directoryOf(name, entry, world),
    },
    maxFrameBytes: maxFrameBytesOf(entry, world),
    secrets,
    onStderr: (line) => world.onStderr?.(name, line),
    onNoise: (what, kind) => (kind === 'fault' ? faults : noise).hear(what),
  });
  return { transport, close: () => transport.close(), stderr: () => transport.lastLines };
}

function namedVariables(
  { inheritEnv = [] }: StdioServerEntry,
  { env }: ConnectWorld,
): Record<string, string> {
  return Object.fromEntries(inheritEnv.flatMap((it) => (env[it] === undefined ? [] : [[it, env[it]]])));
}

/** Variables that are URLs: those of proxies and registries, which every server inherits, may have a password. */
function addressesIn(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value.includes('://')));
}

/** Looked at beforehand: the system says of a missing directory that the command is missing. */
async function directoryOf(name: string, entry: StdioServerEntry, world: ConnectWorld): Promise<string> {
  const path = resolve(world.cwd ?? '.', entry.cwd ?? '.');
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return path;
  throw new HostError('bad-config', name, `its cwd ${path} is no directory`);
}
