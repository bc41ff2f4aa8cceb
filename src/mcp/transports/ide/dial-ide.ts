import type { IdeServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectContext, Dialed } from '../../connection/connect-context.ts';
import { HostError } from '../../errors/host-error.ts';

import { dialSse } from '../http/dial-http.ts';
import { urlOf } from '../http/open-http.ts';
import { isLoopback } from '../http/proxy.ts';
import { dialWs } from '../ws/dial-ws.ts';
import { chooseEditor, findEditors, lockDirectory } from './find-editor.ts';

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
