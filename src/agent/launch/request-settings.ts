import type { RetryOptions } from '../models/retry.ts';
import type { AgentFlags } from './flag-table.ts';
import type { ModelEnvironment } from './model-name.ts';

/** How model requests are made, and notes about variables that cannot be used. */
export type RequestSettings = {
  readonly retry: Pick<RetryOptions, 'maxRetries'>;
  readonly timeout: { readonly timeoutMs?: number };
  readonly notes: readonly string[];
};

/** Node's timers take no longer delay. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** `--max-retries`, else `CLAUDE_CODE_MAX_RETRIES`; and `API_TIMEOUT_MS`. Settings may set both under `env`. */
export function readRequestSettings(
  { maxRetries: flag }: Pick<AgentFlags, 'maxRetries'>,
  env: ModelEnvironment,
): RequestSettings {
  const notes: string[] = [];
  const read = (name: string, least: number, most: number): number | undefined => {
    const text = env[name]?.trim();
    if (!text) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    notes.push(`${name} must be a whole number from ${least} to ${most}; using the default`);
    return undefined;
  };
  const maxRetries = flag ?? read('CLAUDE_CODE_MAX_RETRIES', 0, 1000);
  const timeoutMs = read('API_TIMEOUT_MS', 1, MAX_TIMEOUT_MS);
  return {
    retry: maxRetries === undefined ? {} : { maxRetries },
    timeout: timeoutMs === undefined ? {} : { timeoutMs },
    notes,
  };
}
