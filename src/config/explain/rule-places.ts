import { isRecord } from '../../base/is-record.ts';
import { parseRule, type Rule, type RuleSource, ruleText } from '../../permissions/rule.ts';
import type { Configuration } from '../configuration.ts';
import { RULE_SOURCES } from '../settings/read-settings.ts';
import type { SettingsSource } from '../sources/found.ts';
import type { Stand } from './explanation.ts';
import { standAt } from './stand.ts';

/** A rule as it stands in a file. */
export type WrittenRule = { readonly rule: Rule; readonly at: Stand; readonly source: SettingsSource };

/** Every rule of every settings file and flag, also those that do not count, the highest first. */
export function writtenRules({ settingsSources }: Pick<Configuration, 'settingsSources'>): WrittenRule[] {
  return [...settingsSources].reverse().flatMap((source) => {
    const permissions = isRecord(source.value.permissions) ? source.value.permissions : {};
    return (['deny', 'ask', 'allow'] as const).flatMap((effect) => {
      const texts: unknown = permissions[effect];
      return (Array.isArray(texts) ? texts : []).flatMap((text: unknown, at) => {
        if (typeof text !== 'string') return [];
        const parsed = parseRule(text, effect, RULE_SOURCES[source.scope]);
        if (!parsed.ok) return [];
        const position = source.locate(['permissions', effect, at]);
        return [{ rule: parsed.rule, at: standAt(source.scope, source.label, position), source }];
      });
    });
  });
}

/** Where the rule stands; undefined for one of a flag or of a server's entry. */
export function placeOfRule(all: readonly WrittenRule[], rule: Rule): WrittenRule | undefined {
  return all.find(
    (it) =>
      it.rule.effect === rule.effect &&
      ruleText(it.rule) === ruleText(rule) &&
      it.rule.source === rule.source,
  );
}

/** Whose rule it is, as people call the place. */
export const RULE_PLACES: Readonly<Record<RuleSource, string>> = {
  cliArg: 'a flag',
  session: 'this session',
  localSettings: 'local settings',
  projectSettings: 'project settings',
  userSettings: 'user settings',
  policySettings: 'managed settings',
  serverPolicy: 'the entry of its server',
};
