import { isRecord } from '../../../base/is-record.ts';

/** What a running editor says of itself in its lock file; the port is the file's name. */
export type Editor = {
  port: number;
  pid: number;
  transport: 'ws' | 'sse';
  workspaceFolders: readonly string[];
  ideName: string;
  authToken: string | undefined;
};

/** Reads one lock file; undefined for what is none. Files without a word on the transport are of editors that speak SSE. */
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
  // A header cannot hold everything a string can.
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
