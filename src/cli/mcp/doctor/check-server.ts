import type { Configuration } from '../../../host/config/configuration.ts';
import { expandEntry } from '../../../host/config/expand/expand-entry.ts';
import { explainServer } from '../../../host/config/explain/explain-server.ts';
import type { ConfiguredServer } from '../../../host/config/model.ts';
import { Secrets } from '../../../host/connect/secrets.ts';
import { lookUp } from '../../explain/look-up.ts';
import { checkCommand } from './check-command.ts';
import { checkUrl } from './check-url.ts';
import type { Finding } from './finding.ts';

/** What can be said of a server before it is dialled; an error means that there is no use in it. */
export async function checkBefore(
  configuration: Configuration,
  server: ConfiguredServer,
): Promise<Finding[]> {
  const { name, verdict, entry, written } = server;
  const lookup = lookUp(configuration);
  const { answer, next, faults } = explainServer(configuration, name, { lookup });
  if (verdict.kind !== 'ready' || entry === undefined) {
    const level = verdict.kind === 'broken' || verdict.kind === 'blocked' ? 'error' : 'waiting';
    return [{ check: verdict.kind, level, text: without(answer, name), ...fixOf(next) }];
  }
  const expanded = written.scope === 'connector' ? undefined : expandEntry(entry, lookup);
  if (expanded?.kind === 'faulty') {
    return [{ check: 'expansion', level: 'error', text: expanded.faults.join('; '), ...fixOf(next) }];
  }
  const warnings = faults.map(
    (text): Finding => ({ check: 'entry', level: 'warning', text, fix: 'edit it there' }),
  );
  const found = await checkPlace(configuration, name, expanded?.entry ?? entry);
  // What was put in may stand in what is said of it.
  const secrets = new Secrets(expanded?.secrets ?? []);
  return [...warnings, ...found.map((it) => ({ ...it, text: secrets.mask(it.text) }))];
}

async function checkPlace(
  { world }: Configuration,
  name: string,
  entry: NonNullable<ConfiguredServer['entry']>,
): Promise<Finding[]> {
  if ('command' in entry && entry.command !== undefined) return [await checkCommand(entry, world)];
  return 'url' in entry && entry.url !== undefined ? checkUrl(name, { ...entry, url: entry.url }, world) : [];
}

/** The name stands before it. */
function without(answer: string, name: string): string {
  return answer.replace(`"${name}" `, '').replace(/\.$/, '');
}

function fixOf([first]: readonly string[]): { fix?: string } {
  return first === undefined ? {} : { fix: first };
}
