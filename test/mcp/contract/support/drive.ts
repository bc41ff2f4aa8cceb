import {
  createHost,
  type Host,
  type HostEvent,
  type HostOptions,
  type HostServerEntry,
} from '../../../../src/entry/host.ts';
import type { Far, SetUp } from './set-up.ts';

/** The key of the contract server. */
export const KEY = 'far';

/** An environment with only `PATH` of this machine, and with a secret that no server may receive. */
export const ENV = { PATH: process.env.PATH, HOME: '/nowhere', SECRET_TOKEN: 'hidden' };

/** A host that is connected to one contract server; disposing of the pair ends both. */
export type Pair = AsyncDisposable & { readonly host: Host; readonly far: Far };

export async function pair(
  setUp: SetUp,
  options: HostOptions = {},
  entryMore: Partial<HostServerEntry> = {},
): Promise<Pair> {
  const far = await setUp.start();
  const host = hostOf(far, options, entryMore);
  const end = async () => {
    await host.close();
    await far[Symbol.asyncDispose]();
  };
  try {
    await host.ready({ servers: [KEY], deadline: 15_000 });
    const { state, cause } = host.status()[KEY] ?? {};
    if (state !== 'connected') throw new Error(`it is ${state}: ${cause?.message}`);
  } catch (cause) {
    await end();
    throw cause;
  }
  return { host, far, [Symbol.asyncDispose]: end };
}

/** A host that connects to a contract server; the caller closes the host. */
export function hostOf(far: Far, options: HostOptions = {}, entryMore: Partial<HostServerEntry> = {}): Host {
  const entry = { ...far.entry, ...entryMore } as HostServerEntry;
  return createHost({ env: ENV, ...far.options, mcpServers: { [KEY]: entry }, ...options });
}

/** The first event that matches; rejects after ten seconds with the events that occurred instead. */
export function eventOf<T extends HostEvent>(host: Host, is: (event: HostEvent) => event is T): Promise<T>;
export function eventOf(host: Host, is: (event: HostEvent) => boolean): Promise<HostEvent>;
export function eventOf(host: Host, is: (event: HostEvent) => boolean): Promise<HostEvent> {
  const { promise, resolve, reject } = Promise.withResolvers<HostEvent>();
  const seen: string[] = [];
  const listening = host.events.on((event) => {
    seen.push(event.type === 'state' ? `${event.server} ${event.status.state}` : event.type);
    if (is(event)) resolve(event);
  });
  const timer = setTimeout(() => reject(new Error(`it never happened; seen: ${seen.join(', ')}`)), 10_000);
  return promise.finally(() => {
    clearTimeout(timer);
    listening[Symbol.dispose]();
  });
}

/** Resolves when the contract server enters a matching state. */
export function stateOf(host: Host, is: (state: string) => boolean): Promise<HostEvent> {
  return eventOf(host, (event) => event.type === 'state' && event.server === KEY && is(event.status.state));
}

/** The state that the contract server has recorded. */
export async function journal(host: Host): Promise<Journal> {
  const { structuredContent } = await host.callTool(KEY, 'journal');
  return structuredContent as Journal;
}

type Journal = {
  pid: number;
  start: string;
  handshakes: number;
  begun: string[];
  cancelled: string[];
  header: string;
};

/** The text of a result's first block. */
export function textOf(result: { content?: unknown }): string | undefined {
  return (result.content as { text?: string }[] | undefined)?.[0]?.text;
}

/** The outcome of a call; error results and JSON-RPC errors are treated alike. */
export async function outcomeOf(call: Promise<{ content?: unknown; isError?: boolean }>) {
  try {
    const result = await call;
    return { isError: result.isError === true, text: textOf(result) ?? '' };
  } catch (thrown) {
    return { isError: true, text: (thrown as Error).message };
  }
}
