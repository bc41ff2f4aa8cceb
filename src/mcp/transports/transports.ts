import type {
  HttpServerEntry,
  IdeServerEntry,
  SseServerEntry,
  StdioServerEntry,
  WsServerEntry,
} from '../../protocol/server-entry.ts';
import type {
  ConnectContext,
  Dial,
  Dialed,
  SdkServerEntry,
  ServerEntry,
} from '../connection/connect-context.ts';
import { HostError } from '../errors/host-error.ts';
import { dialHttp, dialSse } from './http/dial-http.ts';
import { dialIde } from './ide/dial-ide.ts';
import { dialInProcess } from './in-process/dial-in-process.ts';
import { dialStdio } from './stdio/dial-stdio.ts';
import { dialWs } from './ws/dial-ws.ts';

/** The transport of each server type. */
export const TRANSPORTS: {
  stdio: Dial<StdioServerEntry>;
  http: Dial<HttpServerEntry>;
  sse: Dial<SseServerEntry>;
  ws: Dial<WsServerEntry>;
  'sse-ide': Dial<IdeServerEntry>;
  'ws-ide': Dial<IdeServerEntry>;
  sdk: Dial<SdkServerEntry>;
} = {
  stdio: dialStdio,
  http: dialHttp,
  sse: dialSse,
  ws: (name, entry, context) => dialWs(name, entry, context),
  'sse-ide': dialIde,
  'ws-ide': dialIde,
  sdk: dialInProcess,
};

/** Creates the transport for an entry; an entry without a type gets the first that fits. */
export function dial(name: string, entry: ServerEntry, context: ConnectContext): Promise<Dialed> {
  const type = kindOf(entry);
  if (!Object.hasOwn(TRANSPORTS, type)) {
    const known = Object.keys(TRANSPORTS).join(', ');
    throw new HostError('bad-config', name, `unknown server type "${type}"; use one of ${known}`);
  }
  return (TRANSPORTS[type as keyof typeof TRANSPORTS] as Dial<ServerEntry>)(name, entry, context);
}

/** The entries to try, in order: a URL without a type may be Streamable HTTP, or SSE if the first answers 400, 404 or 405. */
export function alternatives(entry: ServerEntry): ServerEntry[] {
  if (entry.type !== undefined || !('url' in entry)) return [entry];
  return [
    { ...entry, type: 'http' },
    { ...entry, type: 'sse' },
  ];
}

function kindOf(entry: ServerEntry): string {
  return entry.type ?? ('url' in entry ? 'http' : 'stdio');
}
