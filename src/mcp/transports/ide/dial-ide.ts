import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../base/json-value.ts';
import type { IdeServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectContext, Dialed } from '../../connection/connect-context.ts';
import { HostError } from '../../errors/host-error.ts';
import { dialSse, urlOf } from '../http/dial-http.ts';

import { isLoopback } from '../http/proxy.ts';
import { dialWs } from '../ws/dial-ws.ts';

const TOKEN_HEADER = 'X-Claude-Code-Ide-Authorization';

/** Connects to a running editor: at the URL of the entry, else the one whose lock file names the working directory. */
export async function dialIde(name: string, entry: IdeServerEntry, context: ConnectContext): Promise<Dialed> {
  const { url, authToken } =
    entry.url === undefined ? await discover(name, entry, context) : named(name, entry);
  const { type, ideName, authToken: _, ...common } = entry;
  const headers = authToken === undefined ? {} : { [TOKEN_HEADER]: authToken };
  const dialed = { ...common, url, headers };
  return type === 'ws-ide' ? dialWs(name, dialed, context) : dialSse(name, dialed, context);
}

type Place = { url: string; authToken: string | undefined };

/** An editor runs on this machine, so its token is sent nowhere else. */
function named(name: string, { url = '', authToken }: IdeServerEntry): Place {
  if (!isLoopback(urlOf(name, url).hostname)) {
    throw new HostError('bad-config', name, 'the "url" of an editor must be on this machine (127.0.0.1)');
  }
  return { url, authToken };
}

async function discover(name: string, entry: IdeServerEntry, context: ConnectContext): Promise<Place> {
  const directory = lockDirectory(context.env);
  const { editors, notes } = directory ? await findEditors(directory) : { editors: [], notes: [] };
  for (const note of notes) context.onUnexpectedOutput?.(name, note);
  const transport = entry.type === 'ws-ide' ? 'ws' : 'sse';
  const cwd = context.cwd ?? process.cwd();
  const port = Number(context.env.CLAUDE_CODE_SSE_PORT) || undefined;
  const editor = chooseEditor(editors, { transport, cwd, port, ideName: entry.ideName });
  if (!editor) {
    const error = `no running editor has ${cwd} open; open it in the editor, or set "url" and "authToken"`;
    throw new HostError('unreachable', name, error, { hasRun: 'no', isTerminal: true });
  }
  const url = transport === 'ws' ? `ws://127.0.0.1:${editor.port}` : `http://127.0.0.1:${editor.port}/sse`;
  return { url, authToken: entry.authToken ?? editor.authToken };
}

/** The running editors, and notes about ignored lock files. */
type FoundEditors = { editors: Editor[]; notes: string[] };

const MAX_LOCK_FILE_BYTES = 64 * 1024;

/** The directory of the editors' lock files; undefined without a home directory. */
export function lockDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const home = env.HOME || env.USERPROFILE;
  const config = env.CLAUDE_CONFIG_DIR || (home && join(home, '.claude'));
  return config ? join(config, 'ide') : undefined;
}

/** Reads all lock files of a directory; those of editors that have exited are skipped. */
export async function findEditors(directory: string): Promise<FoundEditors> {
  const names = await readdir(directory).catch(() => []);
  const found: FoundEditors = { editors: [], notes: [] };
  for (const name of names.filter((it) => it.endsWith('.lock')).toSorted()) {
    const text = await trustedText(join(directory, name)).catch(() => 'it cannot be read' as const);
    const editor = typeof text === 'string' ? undefined : readLockFile(name, text.text);
    if (typeof text === 'string') found.notes.push(`lock file ${name} is ignored: ${text}`);
    else if (!editor) found.notes.push(`lock file ${name} is ignored: it is not an editor's lock file`);
    else if (isAlive(editor.pid)) found.editors.push(editor);
  }
  return found;
}

/** Refuses files that other users can write: they could redirect the editor's token to another port. */
async function trustedText(path: string): Promise<{ text: string } | string> {
  await using file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  const { mode, uid, size } = await file.stat();
  const self = process.getuid?.();
  if (self !== undefined && uid !== self && uid !== 0) return 'it belongs to another user';
  if (self !== undefined && (mode & 0o022) !== 0) return 'other users can write to it';
  if (size > MAX_LOCK_FILE_BYTES) return 'it is too large';
  return { text: await file.readFile('utf8') };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What the choice of an editor depends on. */
export type EditorCriteria = {
  transport: Editor['transport'];
  cwd: string;
  /** The port that the editor set in its terminal. */
  port?: number | undefined;
  ideName?: string | undefined;
};

/**
 * The editor that has the working directory open: first the one whose terminal this is, then the one with the nearest
 * folder.
 */
export function chooseEditor(editors: readonly Editor[], criteria: EditorCriteria): Editor | undefined {
  const fitting = editors
    .filter(
      ({ transport, ideName }) =>
        transport === criteria.transport && (criteria.ideName ?? ideName) === ideName,
    )
    .map((editor) => ({ editor, depth: depthOf(editor.workspaceFolders, criteria.cwd) }))
    .filter(({ depth }) => depth > 0);
  const own = fitting.find(({ editor }) => editor.port === criteria.port);
  const nearest = fitting.toSorted((a, b) => b.depth - a.depth || b.editor.port - a.editor.port)[0];
  return (own ?? nearest)?.editor;
}

/** The length of the longest folder that contains the path; 0 if none does. */
function depthOf(folders: readonly string[], path: string): number {
  return Math.max(
    0,
    ...folders.filter((folder) => holds(folder, path)).map((folder) => partsOf(folder).parts.length + 1),
  );
}

function holds(folder: string, path: string): boolean {
  const outer = partsOf(folder);
  const inner = partsOf(path);
  return outer.root === inner.root && outer.parts.every((part, at) => part === inner.parts[at]);
}

/** Splits a path into its names. On Windows, case and kind of slash do not matter. */
function partsOf(path: string): { root: string; parts: string[] } {
  const windows = /^([a-z]:|[\\/]{2}[^\\/]+)(?=[\\/]|$)/i.exec(path)?.[0];
  const plain = windows === undefined ? path : path.slice(windows.length).toLowerCase().replaceAll('\\', '/');
  const parts: string[] = [];
  for (const part of plain.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return { root: windows?.toLowerCase().replaceAll('\\', '/') ?? '/', parts };
}

/** The content of a running editor's lock file; the port is the name of the file. */
export type Editor = {
  port: number;
  pid: number;
  transport: 'ws' | 'sse';
  workspaceFolders: readonly string[];
  ideName: string;
  authToken: string | undefined;
};

/** Parses a lock file; undefined if it is invalid. Without a transport the editor uses SSE. */
export function readLockFile(fileName: string, text: string): Editor | undefined {
  const port = Number(/^(\d{1,5})\.lock$/.exec(fileName)?.[1] ?? Number.NaN);
  if (!(port > 0 && port < 65_536)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { pid, workspaceFolders, ideName, transport = 'sse', authToken } = value;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined;
  if (transport !== 'ws' && transport !== 'sse') return undefined;
  if (!Array.isArray(workspaceFolders)) return undefined;
  // Not every string is a valid header value.
  if (authToken !== undefined && !(typeof authToken === 'string' && /^[\x21-\x7e]+$/.test(authToken)))
    return undefined;
  return {
    port,
    pid,
    transport,
    workspaceFolders: workspaceFolders.filter((folder) => typeof folder === 'string' && folder !== ''),
    ideName: typeof ideName === 'string' ? ideName : 'editor',
    authToken,
  };
}
