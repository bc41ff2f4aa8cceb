import { shellWord } from '../../../base/text/display-text.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { expandEntry } from '../../../config/expand/expand-entry.ts';
import { resolvePaths, workingDirectory } from '../../../config/expand/server-directory.ts';
import { explainServer } from '../../../config/explain/explain-server.ts';
import { faultText } from '../../../config/files/diagnostics.ts';
import type { ConfiguredServer } from '../../../config/model.ts';
import { Secrets } from '../../../mcp/connection/secrets.ts';
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
  const warnings = entryWarnings(configuration, faults);
  if (verdict.kind !== 'ready' || entry === undefined) {
    const level = verdict.kind === 'broken' || verdict.kind === 'blocked' ? 'error' : 'waiting';
    const fix = verdict.kind === 'broken' ? removal(server) : next;
    return [{ check: verdict.kind, level, text: without(answer, name), ...fixOf(fix) }, ...warnings];
  }
  const expanded = written.scope === 'connector' ? undefined : expandEntry(entry, lookup);
  if (expanded?.kind === 'faulty') {
    const { faults: all } = expanded;
    const others = warnings.filter(({ text }) => !all.includes(text));
    return [{ check: 'expansion', level: 'error', text: all.join('; '), ...fixOf(next) }, ...others];
  }
  const found = await checkPlace(configuration, server, expanded?.entry ?? entry);
  // What was put in may stand in what is said of it.
  const secrets = new Secrets(expanded?.secrets ?? []);
  return [...warnings, ...found.map((it) => ({ ...it, text: secrets.mask(it.text) }))];
}

/** What is odd about the entry; what breaks it is told first, or where its file is. */
function entryWarnings({ faults: all }: Configuration, faults: readonly string[]): Finding[] {
  const errors = new Set(all.filter(({ level }) => level === 'error').map(faultText));
  return faults
    .filter((text) => !errors.has(text))
    .map((text) => ({ check: 'entry', level: 'warning', text }));
}

/** The fault says what to mend and where; who does not want it any more can be helped. */
function removal({ name, written: { scope } }: ConfiguredServer): string[] {
  const isOurs = scope === 'user' || scope === 'project' || scope === 'local';
  return isOurs ? [`mend it, or take it out: toolplane mcp remove ${shellWord(name)} --scope ${scope}`] : [];
}

async function checkPlace(
  { world }: Configuration,
  { name, written }: ConfiguredServer,
  expanded: NonNullable<ConfiguredServer['entry']>,
): Promise<Finding[]> {
  const entry = resolvePaths(written, expanded, { world });
  if ('command' in entry && entry.command !== undefined)
    return [await checkCommand(entry, workingDirectory(written, entry, { world }), world)];
  return 'url' in entry && entry.url !== undefined ? checkUrl(name, { ...entry, url: entry.url }, world) : [];
}

/** The name stands before it. */
function without(answer: string, name: string): string {
  return answer.replace(`"${name}" `, '').replace(/\.$/, '');
}

function fixOf([first]: readonly string[]): { fix?: string } {
  return first === undefined ? {} : { fix: first };
}
