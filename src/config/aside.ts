import type { Configuration } from './configuration.ts';
import { explainServer } from './explain/explain-server.ts';
import { inOneLine } from './explain/in-one-line.ts';
import type { Scope, Verdict } from './model.ts';

/** A server that is configured and may not be started. */
export type Aside = {
  readonly name: string;
  readonly scope: Scope;
  readonly state: Exclude<Verdict['kind'], 'ready'>;
  /** One sentence, and what to do. */
  readonly why: string;
};

/** Every name whose entry may not be started. */
export function asideServers(configuration: Configuration): Aside[] {
  return configuration.merged.servers.flatMap(({ name, verdict, written: { scope } }) => {
    if (verdict.kind === 'ready') return [];
    return [{ name, scope, state: verdict.kind, why: inOneLine(explainServer(configuration, name)) }];
  });
}

/** Why a server is not there though somebody wrote its name, in words that go without it; undefined if nobody did. */
export function whyAside(configuration: Configuration, name: string): string | undefined {
  const { merged } = configuration;
  const server = merged.servers.find((it) => it.name === name);
  const isAside = server
    ? server.verdict.kind !== 'ready'
    : merged.lost.some(({ written }) => written.name === name);
  if (!isAside) return undefined;
  const why = inOneLine(explainServer(configuration, name));
  const [itself, itsEntry] = [`"${name}" `, `"${name}" of `];
  if (why.startsWith(itsEntry)) return `the one of ${why.slice(itsEntry.length)}`;
  return why.startsWith(itself) ? `it ${why.slice(itself.length)}` : why;
}
