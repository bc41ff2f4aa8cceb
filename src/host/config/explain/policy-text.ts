import type { Configuration } from '../configuration.ts';
import type { WrittenServer } from '../model.ts';
import type { SettingsSource } from '../source/found.ts';
import type { ServerExplanation } from './explanation.ts';
import { standAt, standText } from './stand.ts';

/** What those who run the machine say about the server. */
export function policyOf(
  { policy, settingsSources }: Pick<Configuration, 'policy' | 'settingsSources'>,
  { name, entry }: Pick<WrittenServer, 'name' | 'entry'>,
): ServerExplanation['policy'] {
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
  return {
    allows: true,
    says: isRuled ? 'no rule of this machine forbids it' : 'there is none on this machine',
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
