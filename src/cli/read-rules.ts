import { SdkError } from '../protocol/sdk-error.ts';
import { toolRules } from '../sdk/options/option-table.ts';

/** The rules of a flag as they are; one that is not whole throws, and is named. */
export function readRules(flag: string, rules: string[]): string[] {
  const broken = rules.find((rule) => !toolRules.holds([rule]));
  if (broken === undefined) return rules;
  throw new SdkError('bad-option', `${flag} '${broken}' is no rule: write Tool or Tool(pattern)`);
}
