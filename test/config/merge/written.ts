import { type MergeInput, mergeServers } from '../../../src/config/merge/merge-servers.ts';
import type {
  Choice,
  IgnoredServer,
  Merged,
  Scope,
  Source,
  WrittenServer,
} from '../../../src/config/model.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';

/** An entry of this scope; by default its command contains the scope. */
export function written(
  scope: Scope,
  name: string,
  entry: ExternalServerEntry | 'broken' = { command: `${scope}-command` },
  label: string = scope,
): WrittenServer {
  const place = { name, scope, label, position: { line: 3, column: 5 } };
  if (entry !== 'broken') return { ...place, raw: entry, entry };
  return { ...place, raw: 7, fault: { level: 'error', scope, label, message: 'must be an object' } };
}

/** A source with these entries; its scope and label are those of the first entry. */
export function sourceOf(first: WrittenServer, ...more: WrittenServer[]): Source {
  return {
    scope: first.scope,
    label: first.label,
    state: 'read',
    servers: [first, ...more],
    faults: [],
  };
}

/** Merges the sources; by default every entry is approved and allowed, and nothing is overridden. */
export function merge(
  sources: readonly Source[],
  more: Partial<Omit<MergeInput, 'sources' | 'choices'>> & {
    choices?: Readonly<Record<string, Choice>>;
  } = {},
): Merged {
  const { choices = {}, ...rest } = more;
  return mergeServers({
    sources,
    policy: { judge: () => ({ kind: 'allowed' }) },
    overrides: [],
    ...rest,
    approvals: { ofServer: ({ label }) => choices[label] ?? 'approved' },
  });
}

/** The result as text: `name: label verdict; lost: label why, …`, then the entries of names without a holder. */
export function told({ servers, lost }: Merged): string[] {
  return [
    ...servers.map(
      ({ name, written: { label }, verdict, lost: also }) =>
        `${name}: ${label} ${verdict.kind}${also.length > 0 ? `; lost: ${also.map(tellLoss).join(', ')}` : ''}`,
    ),
    ...lost.map((it) => `without a holder, ${it.written.name}: ${tellLoss(it)}`),
  ];
}

function tellLoss({ written: { label }, why, winner }: IgnoredServer): string {
  return `${label} ${why}${winner ? ` to ${winner.label}` : ''}`;
}
