import type { ExpandedEntry, ServerEntry } from '../mcp/connection/connect-context.ts';
import { HostError } from '../mcp/errors/host-error.ts';
import { isSameServer } from '../mcp/servers/servers-options.ts';
import type { Configuration } from './configuration.ts';
import { createExpander, entryVariables, withSettingsEnv } from './expand/expand-entry.ts';
import { isolateServer } from './expand/server-directory.ts';
import { explainServer } from './explain/explain-server.ts';
import type { ServerExplanation } from './explain/explanation.ts';
import { formatReason, formatSummary, serverRecord } from './explain/server-record.ts';
import { formatDiagnostic } from './files/diagnostics.ts';
import { managedSource } from './merge/eligibility.ts';
import { newlyForbidden } from './merge/policy.ts';
import {
  type ConfiguredServer,
  hasOwnDirectory,
  type Scope,
  type Verdict,
  type WrittenServer,
} from './model.ts';
import { openSecretStore } from './secrets/secret-store.ts';
import type { Settings } from './settings/merge-settings.ts';
import { fetchConnectors } from './sources/fetch-connectors.ts';
import { ConfigWatcher } from './watch/config-watcher.ts';

/** The part of a session or host that runs the servers. */
export type ConfigurationUser = {
  /** Called with all servers whenever the configuration changes. */
  configure(servers: Readonly<Record<string, ServerEntry>>, now: Configuration, before: Configuration): void;
  /** Called with one-line messages for the user. */
  note(text: string): void;
};

/** How a configuration is used. */
export type Use = {
  /** Limits the servers to these names. */
  readonly only?: readonly string[];
  /** `once`: later changes of the files are ignored. */
  readonly changes?: 'followed' | 'once';
};

/** A configuration in use: the servers to start, the values of their variables and, if followed, changes of the files. */
export class RunningConfiguration implements Disposable {
  readonly #only: ReadonlySet<string> | undefined;
  readonly #isFollowed: boolean;
  readonly #runners = new Set<ConfigurationUser>();
  /** The source of each entry in use: a server may reconnect after its file has changed. */
  readonly #handedOut = new WeakMap<object, WrittenServer>();
  #last: Configuration;
  #following: ConfigWatcher | undefined;
  #asking = new AbortController();

  constructor(first: Configuration, { only, changes = 'followed' }: Use = {}) {
    this.#last = first;
    this.#only = only && new Set(only);
    this.#isFollowed = changes === 'followed';
  }

  get current(): Configuration {
    return this.#following?.current ?? this.#last;
  }

  /** The entries of servers that may be started, without variables substituted. */
  get servers(): Record<string, ServerEntry> {
    const { program } = this.current;
    const ready = inWrittenOrder(this.current).flatMap(({ name, verdict, entry, written }) => {
      if (verdict.kind !== 'ready' || !entry || !this.#isSelected(name)) return [];
      this.#handedOut.set(entry, written);
      return [[name, entry] as const];
    });
    return Object.fromEntries([...ready, ...Object.entries(program)]);
  }

  /** The scope of the entry with the name; undefined if there is none. */
  scopeOf(name: string): Scope | undefined {
    return this.current.merged.servers.find((it) => it.name === name)?.written.scope;
  }

  /** The servers that may not be started, each with the reason and the remedy. */
  inactive(): InactiveServer[] {
    return inactiveServers(this.current).filter(({ name }) => this.#isSelected(name));
  }

  /** Why a configured server is inactive; undefined if no entry has the name. */
  inactiveReason(name: string): string | undefined {
    return this.#isSelected(name) ? formatReason(serverRecord(this.current, name)) : undefined;
  }

  #isSelected(name: string): boolean {
    return this.#only?.has(name) ?? true;
  }

  /** Substitutes the variables and secrets of an entry; throws if the policy forbids the result. */
  readonly expand = (server: string, entry: ServerEntry): ExpandedEntry => {
    const { context, policy } = this.current;
    const expanded = createExpander({
      env: entryVariables(this.current),
      secrets: () => openSecretStore(context, this.#note),
      // Entries of a remote catalog must not read local variables.
      literal: (name) => this.scopeOf(name) === 'connector',
    })(server, entry);
    const managed = managedSource(this.current.sources);
    if (managed && expanded.entry.type !== 'sdk' && !this.#isOwn(server, entry)) {
      const fault = `${managed.label} allows only the servers it defines`;
      throw new HostError('bad-config', server, fault, { hasRun: 'no' });
    }
    const rule =
      expanded.entry.type === 'sdk'
        ? undefined
        : policy.forbids(server, withSettingsEnv(expanded.entry, this.current));
    if (rule === undefined) return this.#placed(server, entry, expanded);
    throw new HostError('bad-config', server, `blocked by policy: ${rule}`, {
      hasRun: 'no',
    });
  };

  /** Adds the working directory of the server, if it is not the session's. */
  #placed(server: string, entry: ServerEntry, expanded: ExpandedEntry): ExpandedEntry {
    const { type } = expanded.entry;
    if (type === 'sdk' || type === 'ws-ide' || type === 'sse-ide') return expanded;
    const written = this.#writtenAs(server, entry);
    if (written === undefined || !hasOwnDirectory(written.scope)) return expanded;
    return { ...expanded, ...isolateServer(written, expanded.entry, this.current) };
  }

  /** The configured source of an entry; undefined if the program passed the entry itself. */
  #writtenAs(server: string, entry: ServerEntry): WrittenServer | undefined {
    const known = this.#handedOut.get(entry);
    if (known !== undefined) return known;
    const own = this.current.merged.servers.find(({ name }) => name === server);
    return own?.entry && isSameServer(own.entry, entry) ? own.written : undefined;
  }

  /** The running servers that a changed managed policy forbids. */
  forbidden(
    before: Configuration,
    now: Configuration,
    servers: ReadonlyMap<string, { readonly entry: ServerEntry }>,
  ): string[] {
    const entries = [...servers].map(([name, { entry }]) => [name, entry] as const);
    return newlyForbidden(before, now, entries, (name, entry) => this.#mayDial(name, entry));
  }

  #mayDial(name: string, entry: ServerEntry): boolean {
    try {
      this.expand(name, entry);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether the entry is the configured one, and not another of the same name. */
  #isOwn(server: string, entry: ServerEntry): boolean {
    const { servers } = this;
    const own = Object.hasOwn(servers, server) ? servers[server] : undefined;
    return own !== undefined && isSameServer(own, entry);
  }

  /** Reports changes of the files to the user of the configuration until the result is disposed. */
  follow({ configure, note }: ConfigurationUser): Disposable {
    const runner: ConfigurationUser = { configure, note };
    if (this.#isFollowed) {
      this.#runners.add(runner);
      this.#following ??= this.#begin();
    }
    return {
      [Symbol.dispose]: () => {
        if (this.#runners.delete(runner) && this.#runners.size === 0) this.#end();
      },
    };
  }

  /** Stops following changes. */
  [Symbol.dispose](): void {
    this.#runners.clear();
    this.#end();
  }

  #begin(): ConfigWatcher {
    const following = new ConfigWatcher(this.#last, {
      apply: (now, before) => this.#notify((runner) => runner.configure(this.servers, now, before)),
      note: this.#note,
    });
    // Files may have changed while none of them was followed.
    if (this.#asking.signal.aborted) void following.refresh();
    this.#asking = new AbortController();
    // Runs in the background: catalogs are cached in files, and those are followed.
    void fetchConnectors(this.#last, { signal: this.#asking.signal, note: this.#note });
    return following;
  }

  readonly #note = (text: string): void => this.#notify((runner) => runner.note(text));

  #end(): void {
    this.#asking.abort();
    this.#last = this.current;
    this.#following?.[Symbol.dispose]();
    this.#following = undefined;
  }

  /** Calls every user of the configuration, even if one throws, and then throws the first error. */
  #notify(one: (runner: ConfigurationUser) => void): void {
    const faults: unknown[] = [];
    for (const runner of this.#runners) {
      try {
        one(runner);
      } catch (cause) {
        faults.push(cause);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}

/** A configured server that may not be started. */
export type InactiveServer = {
  readonly name: string;
  readonly scope: Scope;
  readonly state: Exclude<Verdict['kind'], 'ready'>;
  /** One sentence with the reason and the remedy. */
  readonly why: string;
};

/** Every server whose entry may not be started. */
export function inactiveServers(configuration: Configuration): InactiveServer[] {
  return configuration.merged.servers.flatMap(({ name, verdict, written: { scope } }) => {
    if (verdict.kind === 'ready') return [];
    return [{ name, scope, state: verdict.kind, why: formatSummary(serverRecord(configuration, name)) }];
  });
}

/** The servers in the order of the files, lowest precedence first, and of the entries in each file. */
export function inWrittenOrder({
  sources,
  merged,
}: Pick<Configuration, 'sources' | 'merged'>): ConfiguredServer[] {
  const places = new Map(sources.flatMap((source) => source.servers).map((written, at) => [written, at]));
  const placeOf = ({ written }: ConfiguredServer) => places.get(written) ?? places.size;
  return merged.servers.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** A configured server, and whether it may be started. */
export type ConfiguredServerView = {
  readonly name: string;
  readonly scope: Scope;
  /** The file, flag or URL that contains the entry. */
  readonly label: string;
  /**
   * Only `ready` servers are started. `toolplane mcp approve` approves `pending` ones; `blocked` ones are forbidden by
   * managed settings, and the entry of a `broken` one is invalid.
   */
  readonly state: 'ready' | 'pending' | 'rejected' | 'blocked' | 'disabled' | 'broken';
};

/**
 * The loaded configuration. While a host uses it (`createHost({ configuration })`), it is updated when the files change,
 * unless `changes` is `once`.
 */
export type LoadedConfiguration = {
  /** All configured servers. */
  readonly servers: readonly ConfiguredServerView[];
  /** Problems, one per line: file, line, column and remedy. */
  readonly faults: readonly string[];
  /** Explains where a server's entry comes from and why it is active or ignored. */
  explain(server: string): ServerExplanation;
  /** Used by `createHost()`. */
  readonly running: RunningConfiguration;
};

/** Options of `loadConfiguration()`. */
export type ConfigurationOptions = {
  /** The directory whose project configuration is used. Default: the working directory. */
  cwd?: string;
  /** Environment variables, including `HOME` and `TOOLPLANE_HOME`. Default: those of the program. */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * Files with "mcpServers", or their JSON text. They take precedence over configured servers; later ones over
   * earlier ones.
   */
  mcpConfig?: string | string[];
  /** Use only servers of `mcpConfig` and managed servers. */
  strictMcpConfig?: boolean;
  /** Which settings files are read. Default: all. */
  settingSources?: ('user' | 'project' | 'local')[];
  /** Directories of plugins. */
  plugins?: string[];
  /** `once`: later changes of the files are ignored. By default a running host applies them. */
  changes?: 'followed' | 'once';
};

/** The public view of a configuration. */
export function loadedConfiguration(configuration: Configuration, use: Use = {}): LoadedConfiguration {
  const running = new RunningConfiguration(configuration, use);
  return {
    get servers() {
      return running.current.merged.servers.map(({ name, verdict, written }) => ({
        name,
        scope: written.scope,
        label: written.label,
        state: verdict.kind,
      }));
    },
    get faults() {
      return running.current.faults.map(formatDiagnostic);
    },
    explain: (server) => explainServer(running.current, server),
    running,
  };
}

/** The timeouts in settings for all servers. */
export function configuredTimeouts(configuration: LoadedConfiguration | undefined): {
  readonly connectTimeoutMs?: number;
  readonly callTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
} {
  return sessionTimeouts(configuration?.running.current.settings.timeouts ?? {});
}

/** The timeouts under the option names of hosts and sessions. */
export function sessionTimeouts({ connectMs, callMs, idleMs }: Settings['timeouts']) {
  return {
    ...(connectMs && { connectTimeoutMs: connectMs.value }),
    ...(callMs && { callTimeoutMs: callMs.value }),
    ...(idleMs && { idleTimeoutMs: idleMs.value }),
  };
}
