import type { Configuration } from '../configuration.ts';
import { rulingSource } from '../merge/standing.ts';
import type { WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/found.ts';
import type { ServerExplanation } from './explanation.ts';
import { standAt, standText } from './stand.ts';

/** What those who run the machine say about the server. */
export function policyOf(
  { policy, settingsSources, sources }: Pick<Configuration, 'policy' | 'settingsSources' | 'sources'>,
  { name, entry, scope, label }: Pick<WrittenServer, 'name' | 'entry' | 'scope' | 'label'>,
): ServerExplanation['policy'] {
  const ruling = rulingSource(sources);
  const isOther = ruling !== undefined && (scope !== 'managed' || label !== ruling.label);
  if (isOther) return { allows: false, says: `only servers of ${ruling.label} are started` };
  const judged = entry && policy.judge(name, entry);
  if (judged?.kind === 'forbidden')
    return { allows: false, says: `forbidden by ${rowText(judged.rule, settingsSources)}` };
  if (judged?.kind === 'undecided') {
    return { allows: true, says: 'it depends on what is put in; asked again when it is started' };
  }
  const lists = settingsSources.filter(
    ({ scope, value }) => scope === 'managed' && value.allowedMcpServers !== undefined,
  );
  if (lists.length > 0) {
    return { allows: true, says: `allowedMcpServers of ${lists.map((it) => it.label).join(', ')} names it` };
  }
  const isRuled = settingsSources.some(
    ({ scope, value }) => scope === 'managed' && value.deniedMcpServers !== undefined,
  );
  if (isRuled) return { allows: true, says: 'no rule of this machine forbids it' };
  return {
    allows: true,
    says: ruling ? `it is one of ${ruling.label}` : 'there is none on this machine',
  };
}

/** The rule with its place and what it says, where it is a row of a list. */
function rowText(rule: string, sources: readonly SettingsSource[]): string {
  const [, key = '', index = '', label] = /^(\w+)\[(\d+)\] of (.*)$/s.exec(rule) ?? [];
  const source = sources.find((it) => it.scope === 'managed' && it.label === label);
  const list: unknown = source?.value[key];
  if (source === undefined || !Array.isArray(list)) return rule;
  const at = standAt(source.scope, source.label, source.locate([key, Number(index)]));
  return `${key}[${index}] at ${standText(at)}: ${JSON.stringify(list[Number(index)])}`;
}
