import { resolve } from 'node:path';
import type { FlagNames } from '../../protocol/launch-flag.ts';
import type { EffortLevel } from '../../protocol/system-message.ts';
import { anthropicModel } from '../models/anthropic.ts';
import {
  type Model,
  ModelError,
  type ModelFigures,
  type ModelLimits,
  type ModelRequest,
} from '../models/model.ts';
import { openAiModel } from '../models/openai.ts';
import { rehearsalModel } from '../models/rehearsal.ts';
import { type RetryOptions, withRetry } from '../models/retry.ts';
import { scriptedFile } from '../models/scripted.ts';
import { LONG_WINDOW_TOKENS, modelFigures } from '../models/usage-totals.ts';
import type { Environment } from './environment-variables.ts';
import type { AgentFlags } from './flag-table.ts';
import { firstName, hasAnthropic, type ModelTarget, planModelName, resolveModelName } from './model-name.ts';

/** A model that accepts every name that `--model` does, and the initial name. */
type ChosenModel = {
  readonly model: Model;
  readonly modelName: string;
  /** The name at the provider of a name that `--model` accepts; names with a prefix stay as they are. */
  readonly resolveName: (given: string) => string;
  /**
   * The initial name in plan mode, and that for a name which `--model` accepts; undefined if plan mode uses the same
   * model.
   */
  readonly planModelName: string | undefined;
  readonly planNameOf: (given: string) => string | undefined;
  /** The name that `setModel()` without a name, or with `default`, selects. */
  readonly defaultModelName: string;
  /** The API that serves a model, for `modelUsage`; undefined for other APIs than Anthropic's. */
  readonly providerOf: (name: string) => 'firstParty' | undefined;
  /** The effort that is sent to a model: the given one, or that of the flags, or the default of a known model. */
  readonly effortOf: (name: string, given?: EffortLevel) => EffortLevel | undefined;
  /** Why no model is available; the first turn fails with this text. Undefined if there is a model. */
  readonly lookedFor?: string;
};

type ModelFlags = Pick<
  AgentFlags,
  'model' | 'fallbackModel' | 'betas' | 'thinking' | 'maxThinkingTokens' | 'thinkingDisplay'
> & {
  readonly effort?: EffortLevel | undefined;
};

/** Chooses the model by flags, settings and environment. Without a model the session starts, but its turns fail. */
export function chooseModel(
  flags: ModelFlags,
  env: Environment,
  options: {
    readonly cwd?: string;
    readonly retry?: RetryOptions;
    readonly timeoutMs?: number;
    /** How messages name a flag. */
    readonly nameOf?: FlagNames;
  } = {},
): ChosenModel {
  const given = firstName(flags.model, env.TOOLPLANE_MODEL, env.ANTHROPIC_MODEL);
  const models = new Map<string, Named>();
  const find = (name: string): Named => {
    const found = models.get(name) ?? open(resolveModelName(name, env, options.nameOf), flags, options);
    models.set(name, found);
    return found;
  };
  const first = find(given);
  const resolveName = (name: string) => {
    const found = find(name);
    return name.includes(':') || found.lookedFor !== undefined ? name : found.label;
  };
  const planNameOf = (name: string) => {
    const inPlanMode = planModelName(name);
    return inPlanMode === undefined ? undefined : resolveName(inPlanMode);
  };
  const modelName = given.includes(':') ? given : first.label;
  models.set(modelName, first);
  const byDefault = env.TOOLPLANE_MODEL || (hasAnthropic(env) ? 'default' : undefined);
  const effortOf = (name: string, wanted = flags.effort) => {
    const { isAnthropic, name: known } = find(name);
    const figures = isAnthropic && modelFigures(known);
    return figures ? figures.effort && (wanted ?? figures.effort) : wanted;
  };
  const ask = (request: ModelRequest) => {
    const { model, name, label, isAnthropic } = find(request.model);
    request.onAttempt?.({ given: request.model, name: label });
    const maxTokens = Math.min(request.maxTokens, model.limits.outputTokens);
    const { effort: wanted, thinking: _, ...rest } = request;
    const effort = effortOf(request.model, wanted);
    const requested = request.thinking ?? requestedThinking(flags);
    const figures = isAnthropic && modelFigures(name);
    const thinking = figures
      ? sentThinking(requested, figures.thinking)
      : requested === 'disabled'
        ? undefined
        : requested;
    const { thinkingDisplay } = flags;
    return model.stream({
      ...rest,
      model: name,
      maxTokens,
      ...(thinking && { thinking, ...(thinkingDisplay && { thinkingDisplay }) }),
      ...(effort && { effort }),
    });
  };
  const routed: Model = {
    name: first.model.name,
    limits: first.model.limits,
    canSearch: (name) => find(name).model.canSearch?.(name) ?? false,
    stream: ask,
  };
  const names = (flags.fallbackModel ?? '').split(',').map((name) => name.trim());
  const fallback = { fallback: { model: routed, names: names.filter((name) => name !== '') } };
  return {
    model: withRetry(routed, { ...fallback, ...options.retry }),
    modelName,
    resolveName,
    planNameOf,
    planModelName: planNameOf(given),
    defaultModelName: byDefault === undefined ? modelName : resolveName(byDefault),
    effortOf,
    providerOf: (name) => (find(name).isAnthropic ? 'firstParty' : undefined),
    ...(first.lookedFor !== undefined && { lookedFor: first.lookedFor }),
  };
}

const LONG_WINDOW_BETA = 'context-1m-2025-08-07';

/** A model, its name at its provider, and its name in messages, which keeps the suffix `[1m]` where it has an effect. */
type Named = {
  readonly model: Model;
  readonly name: string;
  readonly label: string;
  readonly isAnthropic?: true;
  readonly lookedFor?: string;
};

function open(
  place: ModelTarget,
  { betas = [] }: ModelFlags,
  { cwd = '.', timeoutMs }: { readonly cwd?: string; readonly timeoutMs?: number },
): Named {
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  switch (place.kind) {
    case 'anthropic': {
      const { name, credential, baseUrl, hasLongWindow } = place;
      const figures = modelFigures(name);
      const contextTokens = hasLongWindow ? LONG_WINDOW_TOKENS : figures?.contextWindow;
      const limits = {
        limits: {
          ...(contextTokens !== undefined && { contextTokens }),
          ...(figures && { outputTokens: figures.maxOutputTokens }),
        },
      };
      const isExtended = hasLongWindow && (figures?.contextWindow ?? 0) < LONG_WINDOW_TOKENS;
      const sent = isExtended ? [...betas, LONG_WINDOW_BETA] : betas;
      const headers = sent.length > 0 && { headers: { 'anthropic-beta': sent.join(',') } };
      return {
        model: anthropicModel({
          ...credential,
          ...(baseUrl && { baseUrl }),
          ...headers,
          ...limits,
          ...timeout,
        }),
        name,
        label: isExtended ? `${name}[1m]` : name,
        isAnthropic: true,
      };
    }
    case 'openai': {
      const { name, kind: _, ...endpoint } = place;
      return { model: openAiModel({ ...endpoint, ...timeout }), name, label: name };
    }
    case 'rehearsal':
      return { model: rehearsalModel(), name: 'rehearsal', label: 'rehearsal' };
    case 'scripted':
      return { model: scriptedFile(resolve(cwd, place.file)), name: 'scripted', label: 'scripted' };
    case 'missing':
      return {
        model: missingModel(place.lookedFor),
        name: 'none',
        label: 'none',
        lookedFor: place.lookedFor,
      };
  }
}

const LIMITS: ModelLimits = { toolName: 64, contextTokens: 200_000, outputTokens: 32_000 };

function missingModel(lookedFor: string): Model {
  return {
    name: 'none',
    limits: LIMITS,
    stream: () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new ModelError('unauthorized', lookedFor)),
      }),
    }),
  };
}

function requestedThinking({ thinking, maxThinkingTokens }: ModelFlags): ModelRequest['thinking'] {
  if (thinking !== undefined) return thinking;
  if (maxThinkingTokens === undefined) return undefined;
  const budgetTokens = Math.floor(maxThinkingTokens);
  return budgetTokens > 0 ? { budgetTokens } : 'disabled';
}

/** The most that the `claude` CLI allows for thinking. */
const MAX_THINKING_BUDGET = 31_999;

/** The form in which a known model takes what is requested; by default models think, as with the `claude` CLI. */
function sentThinking(
  requested: ModelRequest['thinking'],
  kind: ModelFigures['thinking'],
): ModelRequest['thinking'] {
  if (kind === undefined) return undefined;
  if (requested === 'disabled') return kind === 'always' ? 'adaptive' : 'disabled';
  if (kind !== 'budget') return 'adaptive';
  return typeof requested === 'object' ? requested : { budgetTokens: MAX_THINKING_BUDGET };
}
