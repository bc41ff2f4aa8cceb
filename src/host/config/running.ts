import { join } from 'node:path';
import { HostError } from '../connect/host-error.ts';
import type { ExpandedEntry, ServerEntry } from '../connect/world.ts';
import type { Configuration } from './configuration.ts';
import { makeExpander } from './expand/expander.ts';
import { explainServer } from './explain/explain-server.ts';
import { inOneLine } from './explain/in-one-line.ts';
import { rulingSource } from './merge/standing.ts';
import type { Scope } from './model.ts';
import { refreshCatalogues } from './refresh-catalogues.ts';
import { fileSecretStore } from './secret/file-secret-store.ts';
import { Following } from './watch/follow.ts';
import { writtenOrder } from './written-order.ts';

/** Who runs the servers. */
export type Runner = {
  /** The servers are these from now on. */
  configure(servers: Readonly<Record<string, ServerEntry>>, now: Configuration): void;
  /** Hears what a person may want to know; one line each. */
  note(text: string): void;
};

/** How a configuration is used. */
export type Use = {
  /** Keeps to some of the servers. */
  readonly only?: readonly string[];
  /** `once`: what is saved later does not concern who runs it. */
  readonly changes?: 'followed' | 'once';
};

/** A configuration in use: what is to be dialled, what its entries refer to, and, once it is followed, what changes. */
export class RunningConfiguration implements Disposable {
  readonly #first: Configuration;
  readonly #only: ReadonlySet<string> | undefined;
  readonly #isFollowed: boolean;
  readonly #over = new AbortController();
  #following: Following | undefined;

  constructor(first: Configuration, { only, changes = 'followed' }: Use = {}) {
    this.#first = first;
    this.#only = only && new Set(only);
    this.#isFollowed = changes === 'followed';
  }

  get current(): Configuration {
    return this.#following?.current ?? this.#first;
  }

  /** Those that may be started, as written. */
  get servers(): Record<string, ServerEntry> {
    const { program } = this.current;
    const ready = writtenOrder(this.current).flatMap(({ name, verdict, entry }) =>
      verdict.kind === 'ready' && entry && (this.#only?.has(name) ?? true) ? [[name, entry] as const] : [],
    );
    return Object.fromEntries([...ready, ...Object.entries(program)]);
  }

  /** The scope whose entry has the name; undefined if none has. */
  scopeOf(name: string): Scope | undefined {
    return this.current.merged.servers.find((it) => it.name === name)?.written.scope;
  }

  /** Those that may not be started, each with one sentence and what to do. */
  aside(): { readonly name: string; readonly scope: Scope; readonly why: string }[] {
    const { current } = this;
    return current.merged.servers.flatMap(({ name, verdict, written: { scope } }) => {
      if (verdict.kind === 'ready') return [];
      return [{ name, scope, why: inOneLine(explainServer(current, name)) }];
    });
  }

  /** Puts in what an entry refers to; what it leads to then must be allowed, too. */
  readonly expand = (server: string, entry: ServerEntry): ExpandedEntry => {
    const { world, settings, policy } = this.current;
    const expanded = makeExpander({
      env: { ...world.env, ...settings.env },
      secrets: () => fileSecretStore(join(world.home, 'secrets.json')),
      // A catalogue from the network must not ask for our variables.
      literal: (name) => this.scopeOf(name) === 'connector',
    })(server, entry);
    const managed = rulingSource(this.current.sources);
    if (managed && expanded.entry.type !== 'sdk' && !Object.hasOwn(this.servers, server)) {
      const fault = `${managed.label} excludes all servers but its own`;
      throw new HostError('bad-config', server, fault, { hasRun: 'no' });
    }
    const rule = expanded.entry.type === 'sdk' ? undefined : policy.forbids(server, expanded.entry);
    if (rule === undefined) return expanded;
    throw new HostError('bad-config', server, `the policy of this machine forbids it: ${rule}`, {
      hasRun: 'no',
    });
  };

  /** Has whoever runs the servers hear of everything that is saved from now on. */
  follow({ configure, note }: Runner): void {
    if (!this.#isFollowed) return;
    this.#following = new Following(this.#first, {
      apply: (now) => configure(this.servers, now),
      note,
    });
    // Nobody waits for them; what they say is kept in files, and those are followed.
    void refreshCatalogues(this.#first, { signal: this.#over.signal, note });
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#following?.[Symbol.dispose]();
  }
}
