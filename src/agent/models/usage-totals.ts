import { isRecord } from '../../base/json-value.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { ModelFigures, ModelLimits } from './model.ts';
import { MODEL_FIGURES } from './model-figures.ts';

const WEB_SEARCH_USD = 0.01;
/** The context window that the suffix `[1m]` of a model name requests. */
export const LONG_WINDOW_TOKENS = 1_000_000;

/** The figures of a model by any of its names; undefined for a model without known prices. */
export function modelFigures(model: string): ModelFigures | undefined {
  const name = canonicalModel(model);
  return name === undefined ? undefined : MODEL_FIGURES[name];
}

/** The name in the table of figures: without a provider's prefix, a date or a version of the deployment. */
function canonicalModel(model: string): string | undefined {
  const [, found = ''] = /(?:^|[./:])(claude-[a-z0-9-]+)/.exec(model) ?? [];
  const name = found.replace(/-v\d+$|-latest$/, '').replace(/-\d{8}$/, '');
  return [name, `${name}-0`].find((it) => Object.hasOwn(MODEL_FIGURES, it));
}

/** The cost of one reply in US dollars at list prices; undefined for a model without known prices. */
export function replyCost(model: string, usage: Usage): number | undefined {
  const figures = modelFigures(model);
  if (!figures) return undefined;
  const { input, output, cacheRead, written, written1h, webSearches } = counted(usage);
  const isLong = figures.long && input + cacheRead + written > figures.long.above;
  const rates = isLong && figures.long ? figures.long : figures;
  return (
    (input / 1e6) * rates.input +
    (output / 1e6) * rates.output +
    (cacheRead / 1e6) * rates.cacheRead +
    ((written - written1h) / 1e6) * rates.cacheWrite +
    (written1h / 1e6) * rates.cacheWrite1h +
    webSearches * WEB_SEARCH_USD
  );
}

type Totals = ReturnType<typeof counted> & { readonly costUsd: number | undefined };

/** Tokens and costs of each model in a session. */
export class UsageTotals {
  readonly #models = new Map<string, Totals>();

  /**
   * Adds a reply, or several with their cost: the price of a long request differs. `model` is the name that the request was
   * sent with.
   */
  add(model: string, usage: Usage, costUsd?: number): void {
    const more = counted(usage);
    const cost = costUsd ?? replyCost(model, usage);
    const before = this.#models.get(model);
    const sums = Object.entries(more).map(([key, value]) => [
      key,
      (before?.[key as keyof typeof more] ?? 0) + value,
    ]);
    const total = cost === undefined ? undefined : (before?.costUsd ?? 0) + cost;
    this.#models.set(model, { ...(Object.fromEntries(sums) as typeof more), costUsd: total });
  }

  clear(): void {
    this.#models.clear();
  }

  /** The cost of all replies; undefined if a model without known prices was used. */
  get costUsd(): number | undefined {
    let sum = 0;
    for (const { costUsd } of this.#models.values()) {
      if (costUsd === undefined) return undefined;
      sum += costUsd;
    }
    return sum;
  }

  /** The first model without known prices that was used. */
  get unpriced(): string | undefined {
    return [...this.#models].find(([, { costUsd }]) => costUsd === undefined)?.[0];
  }

  /** `modelUsage` of a result message. `limits` are those that the agent uses for a model without known figures. */
  report(limits: ModelLimits, providerOf: (model: string) => string | undefined = () => undefined): Frame {
    return Object.fromEntries(
      [...this.#models].map(([model, totals]) => {
        const provider = providerOf(model);
        const usage = modelUsage(model, totals, limits);
        return [model, { ...usage, ...(provider !== undefined && { provider }) }];
      }),
    );
  }
}

function modelUsage(model: string, totals: Totals, limits: ModelLimits): Frame {
  const { input, output, thinking, cacheRead, written, written5m, written1h, webSearches, costUsd } = totals;
  const figures = modelFigures(model);
  const canonical = canonicalModel(model);
  return {
    inputTokens: input,
    outputTokens: output,
    thinkingTokens: thinking,
    cacheReadInputTokens: cacheRead,
    cacheCreationInputTokens: written,
    cacheCreationEphemeral5mInputTokens: written5m,
    cacheCreationEphemeral1hInputTokens: written1h,
    webSearchRequests: webSearches,
    ...(costUsd !== undefined && { costUSD: costUsd }),
    contextWindow: model.endsWith('[1m]')
      ? LONG_WINDOW_TOKENS
      : (figures?.contextWindow ?? limits.contextTokens),
    maxOutputTokens: figures?.maxOutputTokens ?? limits.outputTokens,
    ...(canonical !== undefined && { canonicalModel: canonical }),
    costBasis: figures ? 'list' : 'unknown',
  };
}

function counted(usage: Usage) {
  const created = isRecord(usage.cache_creation) ? usage.cache_creation : {};
  const tools = isRecord(usage.server_tool_use) ? usage.server_tool_use : {};
  const details = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return {
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    thinking: count(details.thinking_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    written: count(usage.cache_creation_input_tokens),
    written5m: count(created.ephemeral_5m_input_tokens),
    written1h: count(created.ephemeral_1h_input_tokens),
    webSearches: count(tools.web_search_requests),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

/** The members of `usage` that a program may read without a check; models report some of them only when they apply. */
const UNREPORTED_USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
  service_tier: 'standard',
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
  inference_geo: '',
  iterations: [],
  speed: 'standard',
  output_tokens_details: { thinking_tokens: 0 },
  fallback_credit: null,
};

export function completeUsage(usage: Usage): Frame & typeof UNREPORTED_USAGE {
  const reported = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
  return { ...UNREPORTED_USAGE, ...Object.fromEntries(reported) };
}
