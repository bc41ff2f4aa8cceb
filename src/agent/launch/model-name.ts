import type { Environment } from './environment-variables.ts';

/** The provider of a model and the model's name there. */
export type ModelTarget =
  | {
      readonly kind: 'anthropic';
      readonly name: string;
      /** The name had the suffix `[1m]`: a window of a million tokens is requested. */
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
  default: 'claude-sonnet-5-5',
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
 * Resolves a model name: `anthropic:<name>`, `openai:<name>`, `rehearsal`, `scripted:<file>`. A plain name, or none, belongs
 * to the provider that the environment is set up for, Anthropic first.
 */
export function resolveModelName(given: string, env: Environment): ModelTarget {
  const [, prefix, rest = ''] = /^(anthropic|openai|scripted):([\s\S]*)$/.exec(given) ?? [];
  if (given === 'rehearsal') return { kind: 'rehearsal' };
  if (prefix === 'scripted') return { kind: 'scripted', file: rest };
  if (prefix === 'anthropic') return anthropic(rest, env) ?? missing(ANTHROPIC, given);
  if (prefix === 'openai') return openai(rest, env) ?? missing(OPENAI, given);
  return anthropic(given, env) ?? openai(given, env) ?? missing([...ANTHROPIC, ...OPENAI], given);
}

const ANTHROPIC = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'];
const OPENAI = ['OPENAI_API_KEY', 'OPENAI_BASE_URL'];

/** With the claude CLI, `opusplan` is Opus in plan mode and else Sonnet; here it is always Sonnet. */
const ALIASES: Readonly<Record<string, string>> = {
  ...MODEL_ALIASES,
  opusplan: MODEL_ALIASES.sonnet as string,
};

const LONG_WINDOW = /\[1m\]$/i;

function anthropic(given: string, env: Environment): ModelTarget | undefined {
  const { ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_BASE_URL: baseUrl } = env;
  if (!key && !token && !baseUrl) return undefined;
  if (baseUrl && !URL.canParse(baseUrl)) return badUrl('ANTHROPIC_BASE_URL');
  const plain = given.replace(LONG_WINDOW, '');
  const alias = plain === '' ? 'default' : plain;
  const name = Object.hasOwn(ALIASES, alias) ? (ALIASES[alias] as string) : plain;
  // A custom endpoint may need no key, but the client requires some value.
  const credential = !key && token ? { authToken: token } : { apiKey: key || 'none' };
  const isLong = LONG_WINDOW.test(given) && { hasLongWindow: true as const };
  return { kind: 'anthropic', name, credential, ...(baseUrl && { baseUrl }), ...isLong };
}

function openai(name: string, env: Environment): ModelTarget | undefined {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl } = env;
  if (!apiKey && !baseUrl) return undefined;
  if (baseUrl && !URL.canParse(baseUrl)) return badUrl('OPENAI_BASE_URL');
  if (name === '') {
    const lookedFor =
      'OpenAI is configured, but no model is selected: set --model or TOOLPLANE_MODEL to openai:<name>';
    return { kind: 'missing', lookedFor };
  }
  return { kind: 'openai', name, ...(apiKey && { apiKey }), ...(baseUrl && { baseUrl }) };
}

function badUrl(variable: string): ModelTarget {
  return { kind: 'missing', lookedFor: `No model is available: ${variable} is not a full URL` };
}

function missing(variables: readonly string[], given: string): ModelTarget {
  const which = given === '' ? 'No model is available' : `The model "${given}" cannot be used`;
  const lookedFor = `${which}: none of ${variables.join(', ')} is set; set one, or use --model rehearsal, which works offline`;
  return { kind: 'missing', lookedFor };
}
