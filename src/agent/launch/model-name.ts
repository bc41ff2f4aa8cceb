import { type FlagNames, flagName } from '../../protocol/launch-flag.ts';
import type { Environment } from './environment-variables.ts';

/** The provider of a model and the model's name there. */
export type ModelTarget =
  | {
      readonly kind: 'anthropic';
      readonly name: string;
      /** The name had the suffix `[1m]`: a context window of a million tokens is requested. */
      readonly hasLongWindow?: true;
      readonly credential: { readonly apiKey: string } | { readonly authToken: string };
      readonly baseUrl?: string;
    }
  | { readonly kind: 'openai'; readonly name: string; readonly apiKey?: string; readonly baseUrl?: string }
  | { readonly kind: 'rehearsal' }
  | { readonly kind: 'scripted'; readonly file: string }
  | { readonly kind: 'missing'; readonly lookedFor: string };

/** Short names for current models. */
export const MODEL_ALIASES: Readonly<Record<string, string>> = {
  default: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  opus: 'claude-opus-5-5',
  haiku: 'claude-haiku-5-5',
  fable: 'claude-fable-5-2',
};

/** The first name that is set, or an empty string. */
export function firstName(...given: readonly (string | undefined)[]): string {
  return given.find((name) => name !== undefined && name !== '') ?? '';
}

/**
 * The model name of a flag or of settings, if one applies; variables decide otherwise. The model in settings of the `claude`
 * CLI is one of Anthropic's, and variables take precedence over it.
 */
export function selectedModel(
  flag: string | undefined,
  { model, claudeModel }: { readonly model?: string; readonly claudeModel?: string },
  env: Environment,
): string | undefined {
  const isNamed = env.TOOLPLANE_MODEL || env.ANTHROPIC_MODEL;
  return flag ?? model ?? (isNamed || !hasAnthropic(env) ? undefined : claudeModel);
}

/**
 * Resolves a model name: `anthropic:<name>`, `openai:<name>`, `rehearsal`, `scripted:<file>`. A plain name, or none, belongs
 * to the provider that the environment is set up for, Anthropic first.
 */
export function resolveModelName(given: string, env: Environment, nameOf: FlagNames = flagName): ModelTarget {
  const option = nameOf('model');
  const [, prefix, rest = ''] = /^(anthropic|openai|scripted):([\s\S]*)$/.exec(given) ?? [];
  if (given === 'rehearsal') return { kind: 'rehearsal' };
  if (prefix === 'scripted') return { kind: 'scripted', file: rest };
  if (prefix === 'anthropic') return anthropic(rest, env) ?? missing(ANTHROPIC, given, option);
  if (prefix === 'openai') return openai(rest, env, option) ?? missing(OPENAI, given, option);
  return (
    anthropic(given, env) ?? openai(given, env, option) ?? missing([...ANTHROPIC, ...OPENAI], given, option)
  );
}

const ANTHROPIC = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'];
const OPENAI = ['OPENAI_API_KEY', 'OPENAI_BASE_URL'];

const OPUS_PLAN = 'opusplan';

/** `opusplan` is Opus in plan mode, see `planModelName()`, and Sonnet in other modes. */
const ALIASES: Readonly<Record<string, string>> = {
  ...MODEL_ALIASES,
  best: MODEL_ALIASES.opus as string,
  [OPUS_PLAN]: MODEL_ALIASES.sonnet as string,
};

/** The name of the model to use in plan mode, if another one was requested for it. */
export function planModelName(given: string): string | undefined {
  const [, prefix = '', name = ''] = /^(anthropic:)?(.*)$/s.exec(given.replace(LONG_WINDOW, '')) ?? [];
  return name === OPUS_PLAN ? `${prefix}opus` : undefined;
}

/** Whether the environment is set up for Anthropic's API. */
export function hasAnthropic(env: Environment): boolean {
  return ANTHROPIC.some((variable) => env[variable]);
}

const LONG_WINDOW = /\[1m\]$/i;

function anthropic(given: string, env: Environment): ModelTarget | undefined {
  const { ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_BASE_URL: baseUrl } = env;
  if (!hasAnthropic(env)) return undefined;
  if (baseUrl && !URL.canParse(baseUrl)) return badUrl('ANTHROPIC_BASE_URL');
  const plain = given.replace(LONG_WINDOW, '');
  const alias = plain === '' ? 'default' : plain;
  const name = Object.hasOwn(ALIASES, alias) ? (ALIASES[alias] as string) : plain;
  // A custom endpoint may need no key, but the client requires some value.
  const credential = !key && token ? { authToken: token } : { apiKey: key || 'none' };
  const isLong = LONG_WINDOW.test(given) && { hasLongWindow: true as const };
  return { kind: 'anthropic', name, credential, ...(baseUrl && { baseUrl }), ...isLong };
}

function openai(name: string, env: Environment, option: string): ModelTarget | undefined {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl } = env;
  if (!apiKey && !baseUrl) return undefined;
  if (baseUrl && !URL.canParse(baseUrl)) return badUrl('OPENAI_BASE_URL');
  if (name === '') {
    const lookedFor = `OpenAI is configured, but no model is selected: set ${option} or TOOLPLANE_MODEL to openai:<name>`;
    return { kind: 'missing', lookedFor };
  }
  return { kind: 'openai', name, ...(apiKey && { apiKey }), ...(baseUrl && { baseUrl }) };
}

function badUrl(variable: string): ModelTarget {
  return {
    kind: 'missing',
    lookedFor: `No model is available: ${variable} is not a complete URL; set it to one with scheme and host`,
  };
}

function missing(variables: readonly string[], given: string, option: string): ModelTarget {
  const which = given === '' ? 'No model is available' : `The model "${given}" cannot be used`;
  const lookedFor = `${which}: none of ${variables.join(', ')} is set; set one, or use ${option} rehearsal, which works offline`;
  return { kind: 'missing', lookedFor };
}
