import {
  type AccountInfo,
  type ApiKeySource,
  EFFORT_LEVELS,
  type ModelInfo,
} from '../../protocol/system-message.ts';
import type { ModelFigures } from '../models/model.ts';
import { modelFigures } from '../models/usage-totals.ts';
import type { Environment } from './environment-variables.ts';
import { MODEL_ALIASES, resolveModelName } from './model-name.ts';

/** The models that a program can offer to its users: Anthropic's by their short names, and the current one. */
export function listModels(current: string, env: Environment): ModelInfo[] {
  const given = describeModel(current, current);
  if (resolveModelName(current, env).kind !== 'anthropic') return [given];
  const rows = Object.entries(MODEL_ALIASES).map(([alias, name]) => describeModel(alias, name));
  return rows.some(({ resolvedModel }) => resolvedModel === current) ? rows : [...rows, given];
}

/** Where the credentials for the model come from, without the credentials. */
export function describeAccount(current: string, env: Environment): AccountInfo {
  if (resolveModelName(current, env).kind !== 'anthropic') return {};
  const { ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: token } = env;
  return {
    tokenSource: !key && token ? 'ANTHROPIC_AUTH_TOKEN' : 'none',
    ...(key && { apiKeySource: 'ANTHROPIC_API_KEY' satisfies ApiKeySource }),
    apiProvider: 'firstParty',
  };
}

function describeModel(value: string, name: string): ModelInfo {
  const figures = modelFigures(name);
  return {
    value,
    resolvedModel: name,
    displayName: value === 'default' ? 'Default (recommended)' : displayName(value),
    description: figures ? `${displayName(name)} · ${priceText(figures)}` : '',
    ...(figures?.effort && {
      supportsEffort: true,
      supportedEffortLevels: [...EFFORT_LEVELS],
      supportsAdaptiveThinking: true,
    }),
  };
}

/** `claude-opus-5-5` is shown as `Opus 5.5`; names of other forms are shown as they are. */
function displayName(name: string): string {
  if (Object.hasOwn(MODEL_ALIASES, name)) return capitalized(name);
  const [, family, major, minor] = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?$/.exec(name) ?? [];
  return family && major ? `${capitalized(family)} ${major}${minor ? `.${minor}` : ''}` : name;
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function priceText({ input, output, long }: ModelFigures): string {
  const text = `$${amount(input)}/$${amount(output)} per Mtok`;
  if (!long) return text;
  return `${text} ($${amount(long.input)}/$${amount(long.output)} for prompts over ${long.above / 1000}k)`;
}

function amount(dollars: number): string {
  return Number.isInteger(dollars) ? String(dollars) : dollars.toFixed(2);
}
