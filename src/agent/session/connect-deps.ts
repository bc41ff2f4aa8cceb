import { isRecord } from '../../base/json-value.ts';
import { pluralize } from '../../base/text/display-text.ts';
import type { Channels } from '../../channels/channels.ts';
import type { ControlAnswer, ControlChannel } from '../../control/channel.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { ConnectContext, SdkPort, ServerLog } from '../../mcp/connection/connect-context.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { CHANNEL } from '../../protocol/mcp.ts';
import type { SessionContext } from '../calls/call-context.ts';
import { serverRequestHandlers } from './requests/server-requests.ts';
import type { SessionOptions } from './session.ts';
import type { SessionStateTracker } from './turn-queue.ts';

/** What connections need: how to reach servers in the program, and the handlers of servers' requests. */
export function createConnectDeps(
  { connect, model, workspace, note, serverLogLevel }: SessionOptions,
  session: {
    readonly modelName: string;
    readonly hooks: SessionHooks;
    readonly ports: ProgramPorts;
    readonly state: SessionStateTracker;
    readonly channel: ControlChannel;
    readonly context: SessionContext;
    emit(message: Frame): void;
    addUsage(model: string, usage: Usage): void;
  },
  channels: Pick<Channels, 'receive'> | undefined,
): ConnectContext {
  return {
    ...connect,
    openPort: (server) => session.ports.open(server),
    ...(channels && { onNotification: (...received) => channels.receive(...received) }),
    ...(serverLogLevel && {
      logLevel: () => serverLogLevel,
      onLog: limitedLog(({ server, entry }) =>
        session.emit({ type: 'system', subtype: 'mcp_log', server, ...entry }),
      ),
    }),
    onRequestRefused: (server, message) => note?.(`MCP server "${server}": ${message}`),
    clientFeatures: (server, entry) =>
      serverRequestHandlers(server, entry, {
        channel: () => session.channel,
        hooks: session.hooks,
        model,
        modelName: () => session.modelName,
        permissions: () => session.context,
        directories: () => [workspace.cwd, ...session.context.workspace().directories],
        whileWaiting: (work) => session.state.whileWaiting(work),
        onUsage: (name, usage) => session.addUsage(name, usage),
      }),
  };
}

/** How many log messages of a server are passed on per second. */
const MAX_LOGS = 10;

/** Passes on log messages; of a server that sends too many, the rest of a second is dropped and counted. */
function limitedLog(
  report: (log: { readonly server: string; readonly entry: ServerLog }) => void,
): (server: string, entry: ServerLog) => void {
  const counts = new Map<string, { since: number; count: number }>();
  return (server, entry) => {
    const now = performance.now();
    const known = counts.get(server) ?? { since: now, count: 0 };
    const dropped = known.count - MAX_LOGS;
    const isOver = now - known.since > 1000;
    if (isOver && dropped > 0)
      report({
        server,
        entry: { level: 'warning', data: `${pluralize(dropped, 'log message')} dropped: too many at once` },
      });
    const counted = isOver ? { since: now, count: 1 } : { ...known, count: known.count + 1 };
    counts.set(server, counted);
    if (counted.count <= MAX_LOGS) report({ server, entry });
  };
}

/** How many messages of a server are held until the agent is connected to it. */
const MAX_HELD = 1_000;

/** The connections to servers in the program: each message to a server is a control request. */
export class ProgramPorts {
  readonly #request: ProgramRequest;
  readonly #listeners = new Map<string, (message: unknown) => void>();
  /** Messages that a server pushed before the agent was connected to it. */
  readonly #held = new Map<string, unknown[]>();

  constructor(request: ProgramRequest) {
    this.#request = request;
  }

  open(server: string): SdkPort {
    return {
      send: async (message, signal) => {
        const body = { subtype: 'mcp_message', server_name: server, message: message as unknown as Frame };
        return (await this.#request(body, signal)).response.mcp_response;
      },
      listen: (receive) => {
        this.#listeners.set(server, receive);
        const held = this.#held.get(server) ?? [];
        this.#held.delete(server);
        // Deferred until after the handshake, because the listener is added before it.
        if (held.length > 0) setImmediate(() => held.forEach(receive));
        return () => {
          // A later connection may have registered under the same name.
          if (this.#listeners.get(server) === receive) this.#listeners.delete(server);
        };
      },
    };
  }

  /** Passes on a message that a server sent on its own initiative. */
  deliver(server: string, message: unknown): void {
    const listener = this.#listeners.get(server);
    if (listener) listener(message);
    else if (isRecord(message) && message.method === CHANNEL.message) this.#hold(server, message);
  }

  #hold(server: string, message: unknown): void {
    const held = this.#held.get(server) ?? [];
    this.#held.set(server, held);
    if (held.length < MAX_HELD) held.push(message);
  }
}

type ProgramRequest = (body: Frame & { subtype: string }, signal: AbortSignal) => Promise<ControlAnswer>;
