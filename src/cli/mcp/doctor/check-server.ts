import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { connect, isIP } from 'node:net';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { shellQuote } from '../../../base/text/display-text.ts';
import type { ConfigContext } from '../../../config/config-context.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { expandEntry } from '../../../config/expand/expand-entry.ts';
import { resolvePaths, workingDirectory } from '../../../config/expand/server-directory.ts';
import { explainServer } from '../../../config/explain/explain-server.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import type { ConfiguredServer } from '../../../config/model.ts';
import { Secrets } from '../../../mcp/connection/secrets.ts';
import { NETWORK_ERRORS } from '../../../mcp/errors/classify-failure.ts';
import { proxyFor } from '../../../mcp/transports/http/proxy.ts';
import { tlsOptions } from '../../../mcp/transports/http/tls-options.ts';
import { serverEnvironment } from '../../../mcp/transports/stdio/server-environment.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import type { StdioServerEntry } from '../../../protocol/server-entry.ts';
import { createLookup } from '../health.ts';
import type { Finding } from './report.ts';

/** What can be said of a server before it is dialled; an error means that there is no use in it. */
export async function checkBefore(
  configuration: Configuration,
  server: ConfiguredServer,
): Promise<Finding[]> {
  const { name, verdict, entry, written } = server;
  const lookup = createLookup(configuration);
  const { answer, next, faults } = explainServer(configuration, name, { lookup });
  const warnings = entryWarnings(configuration, faults);
  if (verdict.kind !== 'ready' || entry === undefined) {
    const level = verdict.kind === 'broken' || verdict.kind === 'blocked' ? 'error' : 'waiting';
    const fix = verdict.kind === 'broken' ? removal(server) : next;
    return [{ check: verdict.kind, level, text: without(answer, name), ...fixOf(fix) }, ...warnings];
  }
  const expanded = written.scope === 'connector' ? undefined : expandEntry(entry, lookup);
  if (expanded?.kind === 'faulty') {
    const { faults: all } = expanded;
    const others = warnings.filter(({ text }) => !all.includes(text));
    return [{ check: 'expansion', level: 'error', text: all.join('; '), ...fixOf(next) }, ...others];
  }
  const found = await checkPlace(configuration, server, expanded?.entry ?? entry);
  // What was put in may stand in what is said of it.
  const secrets = new Secrets(expanded?.secrets ?? []);
  return [...warnings, ...found.map((it) => ({ ...it, text: secrets.mask(it.text) }))];
}

/** What is odd about the entry; what breaks it is told first, or where its file is. */
function entryWarnings({ faults: all }: Configuration, faults: readonly string[]): Finding[] {
  const errors = new Set(all.filter(({ level }) => level === 'error').map(formatDiagnostic));
  return faults
    .filter((text) => !errors.has(text))
    .map((text) => ({ check: 'entry', level: 'warning', text }));
}

/** The fault says what to mend and where; who does not want it any more can be helped. */
function removal({ name, written: { scope } }: ConfiguredServer): string[] {
  const isOurs = scope === 'user' || scope === 'project' || scope === 'local';
  return isOurs ? [`mend it, or take it out: toolplane mcp remove ${shellQuote(name)} --scope ${scope}`] : [];
}

async function checkPlace(
  { context }: Configuration,
  { name, written }: ConfiguredServer,
  expanded: NonNullable<ConfiguredServer['entry']>,
): Promise<Finding[]> {
  const entry = resolvePaths(written, expanded, { context });
  if ('command' in entry && entry.command !== undefined)
    return [await checkCommand(entry, workingDirectory(written, entry, { context }), context)];
  return 'url' in entry && entry.url !== undefined
    ? checkUrl(name, { ...entry, url: entry.url }, context)
    : [];
}

/** The name stands before it. */
function without(answer: string, name: string): string {
  return answer.replace(`"${name}" `, '').replace(/\.$/, '');
}

function fixOf([first]: readonly string[]): { fix?: string } {
  return first === undefined ? {} : { fix: first };
}

/** Whether the command of a server can be run; the entry is expanded. */
async function checkCommand(entry: StdioServerEntry, cwd: string, context: ConfigContext): Promise<Finding> {
  const { command } = entry;
  const { PATH } = serverEnvironment(context.env, entry, context.platform);
  const found = await onPath(command, { path: PATH, cwd, platform: context.platform });
  const finding = (level: Finding['level'], text: string, fix?: string): Finding => ({
    check: 'command',
    level,
    text,
    ...(fix !== undefined && { fix }),
  });
  switch (found.kind) {
    case 'found':
      return finding('ok', `${command} is ${found.path}`);
    case 'not-executable':
      return finding('error', `${found.path} may not be run`, `chmod +x ${shellQuote(found.path)}`);
    case 'missing':
      if (/^\.{0,2}[\\/]/.test(command))
        return finding(
          'error',
          `there is no ${resolve(cwd, command)}`,
          'give its full path as "command", or set "cwd"',
        );
      return finding('error', `the command ${JSON.stringify(command)} is not on PATH`, howToGet(command));
  }
}

function howToGet(command: string): string {
  if (/\s/.test(command)) return 'put what follows the first word of "command" into "args"';
  const known = INSTALL.get(command.replace(/^.*[\\/]/, ''));
  return known ?? `install ${command}, or give its full path as "command"`;
}

/** What the usual commands come with. */
const INSTALL: ReadonlyMap<string, string> = new Map([
  ['npx', 'install Node.js, which brings npx; or give its full path as "command"'],
  ['npm', 'install Node.js, which brings npm'],
  ['node', 'install Node.js, or give its full path as "command"'],
  ['uvx', 'install uv, which brings uvx; or give its full path as "command"'],
  ['uv', 'install uv, or give its full path as "command"'],
  ['docker', 'install Docker and start it'],
  ['python', 'install Python, or write "python3" as "command"'],
  ['python3', 'install Python 3'],
  ['bunx', 'install Bun, which brings bunx'],
  ['deno', 'install Deno'],
]);

/** Where a command was found, or why it cannot be run. */
type OnPath =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing' }
  /** It is there, and nobody may run it. */
  | { readonly kind: 'not-executable'; readonly path: string };

/** Looks for a command as a process that is started does: by its path, or in each directory of `PATH`. */
export async function onPath(
  command: string,
  { path = '', cwd, platform }: { path?: string | undefined; cwd: string; platform: NodeJS.Platform },
): Promise<OnPath> {
  const hasWay = command.includes('/') || (platform === 'win32' && command.includes('\\'));
  const places = hasWay
    ? [isAbsolute(command) ? command : resolve(cwd, command)]
    : path
        .split(delimiter)
        .filter((it) => it !== '')
        .map((directory) => join(directory, command));
  let unusable: string | undefined;
  for (const place of places.flatMap((it) => withEndings(it, platform))) {
    const state = await stateOf(place);
    if (state === 'executable') return { kind: 'found', path: place };
    if (state === 'file') unusable ??= place;
  }
  return unusable === undefined ? { kind: 'missing' } : { kind: 'not-executable', path: unusable };
}

function withEndings(place: string, platform: NodeJS.Platform): string[] {
  return platform === 'win32' ? [place, ...['.exe', '.cmd', '.bat'].map((end) => place + end)] : [place];
}

async function stateOf(path: string): Promise<'executable' | 'file' | 'nothing'> {
  try {
    if (!(await stat(path)).isFile()) return 'nothing';
  } catch {
    return 'nothing';
  }
  return access(path, constants.X_OK).then(
    () => 'executable',
    () => 'file',
  );
}

/** Nobody waits longer for a door to open. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Whether the address of a server can be reached: its name, its port, its certificate. The entry is expanded. */
export async function checkUrl(
  name: string,
  { url, tls }: { readonly url: string; readonly tls?: Parameters<typeof tlsOptions>[1] },
  { env }: Pick<ConfigContext, 'env'>,
): Promise<Finding[]> {
  const target = new URL(url);
  const proxy = proxyFor(target, env);
  if (proxy !== undefined) {
    const { host } = URL.canParse(proxy) ? new URL(proxy) : { host: 'a proxy' };
    return [ok('proxy', `it is reached through ${host}, as the environment says`)];
  }
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = target.protocol === 'https:' || target.protocol === 'wss:';
  const port = Number(target.port) || (isSecure ? 443 : 80);
  const until = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  let check = 'address';
  try {
    await open(() => connect({ host, port }), 'connect', until);
    const reached = ok('address', `${host}:${port} answers`);
    if (!isSecure) return [reached];
    check = 'tls';
    const options = await tlsOptions(name, tls);
    // An address is no name that a certificate could be asked for.
    const asked = isIP(host) === 0 ? { servername: host } : {};
    await open(() => connectTls({ ...asked, ...options, host, port }), 'secureConnect', until);
    return [reached, ok('tls', 'its certificate is good')];
  } catch (cause) {
    return [{ check, level: 'error', ...networkFault(cause, `${host}:${port}`) }];
  }
}

function ok(check: string, text: string): Finding {
  return { check, level: 'ok', text };
}

function networkFault(cause: unknown, where: string): Pick<Finding, 'text' | 'fix'> {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const known = Object.hasOwn(NETWORK_ERRORS, code) ? NETWORK_ERRORS[code] : undefined;
  const isLate = cause instanceof Error && cause.name === 'TimeoutError';
  const message =
    known?.fault ?? (isLate ? 'it does not answer; check "url" and the network' : messageOf(cause));
  const [text = '', ...rest] = message.split('; ');
  const fix = rest.join('; ');
  const named = code === '' ? '' : ` (${code})`;
  return {
    text: `${where}: ${text}${named}`,
    fix: fix === '' ? 'check "url" and the network' : fix,
  };
}

/** Settles when the socket is open, and closes it. */
async function open(
  make: () => ReturnType<typeof connect>,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<void> {
  const socket = make();
  try {
    await once(socket, event, { signal });
  } catch (cause) {
    throw signal.aborted ? signal.reason : cause;
  } finally {
    socket.on('error', () => {});
    socket.destroy();
  }
}
