import { createHash } from 'node:crypto';
import { isTrustedEntry, type ServerEntry } from '../../mcp/connection/connect-context.ts';
import type { KnownServer, Server } from '../../mcp/servers/server-status.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { Pinned, Pins } from './pins.ts';
import { acceptCommand, isComparable, isUnremarkablyNew, type ToolChange } from './tool-change.ts';

/** A server as its users see it; without `isVerified` its list counts as verified. */
type Watched = Server & Partial<Pick<KnownServer, 'isVerified'>>;

/** Receives changes that a person should see. */
type PinListener = {
  changed(change: ToolChange): void;
  /** Tools that a server added since it was accepted, those of one list together. */
  added(server: string, changes: readonly ToolChange[]): void;
  /** Other remarks: the server moved, or more tools changed than are listed. */
  remark(server: string, message: string): void;
};

/** How many changes of one list are reported individually. */
const MAX_REPORTED = 20;

/** Compares the tools of servers with the accepted definitions and reports each change once. */
export class PinWatch {
  readonly #pins: Pins;
  readonly #cwd: string | undefined;
  readonly #listener: PinListener;
  readonly #checked = new WeakSet<readonly ListedTool[]>();
  readonly #names = new WeakMap<readonly ListedTool[], ReadonlyMap<string, ListedTool>>();
  readonly #reported = new Set<string>();
  /** Cached, because every call needs the place. */
  readonly #places = new WeakMap<Server['entry'], string | undefined>();

  constructor(pins: Pins, cwd: string | undefined, listener: PinListener) {
    this.#pins = pins;
    this.#cwd = cwd;
    this.#listener = listener;
  }

  /** Compares the tools of a connected server; a list that was compared before is skipped. */
  check(key: string, { entry, state }: Server): void {
    const at = this.#pinned(key, entry);
    if (!at || state.kind !== 'connected' || this.#checked.has(state.tools)) return;
    this.#checked.add(state.tools);
    const { changes, isElsewhere } = this.#pins.observe(at, state.tools);
    // Without shared pins there is no remark: the program itself configured both servers.
    if (isElsewhere && this.#pins.isLasting) {
      this.#listener.remark(
        key,
        'its command or URL changed, so it is treated as a new server: the tools that it lists now are accepted',
      );
    }
    const added = changes.filter((change) => isUnremarkablyNew(change) && this.#isUnreported(change));
    if (added.length > 0) this.#listener.added(key, added);
    const changed = changes.filter((change) => !isUnremarkablyNew(change));
    for (const change of changed.slice(0, MAX_REPORTED)) {
      if (this.#isUnreported(change)) this.#listener.changed(change);
    }
    const more = changed.length - MAX_REPORTED;
    if (more > 0)
      this.#listener.remark(
        key,
        `${more} more of its tools ${more === 1 ? 'requires' : 'require'} approval; to list them: toolplane tools --changed`,
      );
  }

  /** The change of a server's tool that requires acceptance, by the server's current list. */
  changeOf(key: string, server: Watched, tool: ListedTool): ToolChange | undefined {
    const at = this.#pinned(key, server.entry);
    if (!at) return undefined;
    const { state, isVerified = true } = server;
    this.check(key, server);
    if (state.kind === 'connected') {
      return this.#pins.changeOf(at, this.#byName(state.tools).get(tool.name) ?? tool);
    }
    // A list from an earlier connection does not describe the server that will be called.
    return isVerified ? this.#pins.changeOf(at, tool) : undefined;
  }

  /** How to accept a change outside a prompt; without lasting pins only `canUseTool` can allow it. */
  remedyOf(change: ToolChange): string {
    if (!isComparable(change))
      return "the definition cannot be accepted; ask the server's author for a smaller one";
    if (!this.#pins.isLasting) return 'to allow the call, return allow from canUseTool';
    return `to accept it: ${acceptCommand(change)}`;
  }

  accept(change: ToolChange): void {
    this.#pins.acceptChange(change);
  }

  #byName(tools: readonly ListedTool[]): ReadonlyMap<string, ListedTool> {
    let names = this.#names.get(tools);
    if (!names) {
      names = new Map(tools.map((tool) => [tool.name, tool]));
      this.#names.set(tools, names);
    }
    return names;
  }

  #pinned(server: string, entry: Server['entry']): Pinned | undefined {
    if (!this.#places.has(entry)) this.#places.set(entry, placeOf(entry, this.#cwd));
    const place = this.#places.get(entry);
    return place === undefined ? undefined : { server, place, isTrusted: isTrustedEntry(entry) };
  }

  /** Whether a change has not been reported yet; from now on it counts as reported. */
  #isUnreported({ server, tool, fingerprints }: ToolChange): boolean {
    const id = JSON.stringify([server, tool, fingerprints.after]);
    const isUnreported = !this.#reported.has(id);
    this.#reported.add(id);
    return isUnreported;
  }
}

/**
 * Identifies the server behind a key: a hash of the command and its arguments, or of the URL, without credentials and
 * environment. Undefined for in-process servers, whose tools need no acceptance.
 */
export function placeOf(entry: ServerEntry, cwd: string | undefined): string | undefined {
  const parts = partsOf(entry, cwd);
  return parts && createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function partsOf(entry: ServerEntry, cwd: string | undefined): unknown[] | undefined {
  if (entry.type === 'sdk') return undefined;
  // An editor uses another port each time it is started.
  if (entry.type === 'sse-ide' || entry.type === 'ws-ide') return ['ide', entry.ideName ?? ''];
  if (!('command' in entry)) return ['url', entry.url];
  const { command, args = [] } = entry;
  const where = entry.cwd ?? ([command, ...args].some(isRelative) ? (cwd ?? '') : '');
  return ['command', command, args, where];
}

/** Whether a word is a relative path, which means another file in another directory. */
function isRelative(word: string): boolean {
  return /^\.{1,2}([\\/]|$)/.test(word) || /^[^/\\@$-].*\.([cm]?[jt]s|py|rb|sh|jar|exe)$/i.test(word);
}
