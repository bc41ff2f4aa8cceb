import { resolve } from 'node:path';
import { anthropicModel } from '../models/anthropic.ts';
import { type Model, ModelError, type ModelLimits, type ModelRequest } from '../models/model.ts';
import { openAiModel } from '../models/openai.ts';
import { rehearsalModel } from '../models/rehearsal.ts';
import { type RetryOptions, withRetry } from '../models/retry.ts';
import { scriptedFile } from '../models/scripted.ts';
import { modelFigures } from '../models/usage-totals.ts';
import type { Environment } from './environment-variables.ts';
import type { AgentFlags } from './flag-table.ts';
import { firstName, type ModelTarget, resolveModelName } from './model-name.ts';

/** A model that accepts every name that `--model` does, and the initial name. */
type ChosenModel = {
  readonly model: Model;
  readonly modelName: string;
  /** The name at the provider of a name that `--model` accepts; names with a prefix stay as they are. */
  readonly resolveName: (given: string) => string;
  /** Why no model is available, if so; the first turn fails with it. */
  readonly lookedFor?: string;
};

type ModelFlags = Pick<AgentFlags, 'model' | 'fallbackModel' | 'betas' | 'thinking' | 'maxThinkingTokens'>;

/** Chooses the model by flags, settings and environment. Without a model the session starts, but its turns fail. */
export function chooseModel(
  flags: ModelFlags,
  env: Environment,
  options: { readonly cwd?: string; readonly retry?: RetryOptions; readonly timeoutMs?: number } = {},
): ChosenModel {
  const given = firstName(flags.model, env.TOOLPLANE_MODEL, env.ANTHROPIC_MODEL);
  const models = new Map<string, Named>();
  const find = (name: string): Named => {
    const found = models.get(name) ?? open(resolveModelName(name, env), flags, options);
    models.set(name, found);
    return found;
  };
  const first = find(given);
  const resolveName = (name: string) => {
    const found = find(name);
    // A later request has only the resolved name; the suffix `[1m]` still applies to it.
    if (!name.includes(':')) models.set(found.name, found);
    return name.includes(':') || found.lookedFor !== undefined ? name : found.name;
  };
  const modelName = given.includes(':') ? given : first.name;
  models.set(modelName, first);
  const thinking = thinkingOf(flags);
  const ask = (request: ModelRequest) => {
    const { model, name } = find(request.model);
    request.onAttempt?.({ given: request.model, name });
    const maxTokens = Math.min(request.maxTokens, model.limits.outputTokens);
    return model.stream({ ...request, model: name, maxTokens, ...(thinking && { thinking }) });
  };
  const routed: Model = { name: first.model.name, limits: first.model.limits, stream: ask };
  const names = (flags.fallbackModel ?? '').split(',').map((name) => name.trim());
  const fallback = { fallback: { model: routed, names: names.filter((name) => name !== '') } };
  return {
    model: withRetry(routed, { ...fallback, ...options.retry }),
    modelName,
    resolveName,
    ...(first.lookedFor !== undefined && { lookedFor: first.lookedFor }),
  };
}

const LONG_WINDOW_TOKENS = 1_000_000;
const LONG_WINDOW_BETA = 'context-1m-2025-08-07';

/** A model and its name at its provider. */
type Named = { readonly model: Model; readonly name: string; readonly lookedFor?: string };

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
      };
    }
    case 'openai': {
      const { name, kind: _, ...endpoint } = place;
      return { model: openAiModel({ ...endpoint, ...timeout }), name };
    }
    case 'rehearsal':
      return { model: rehearsalModel(), name: 'rehearsal' };
    case 'scripted':
      return { model: scriptedFile(resolve(cwd, place.file)), name: 'scripted' };
    case 'missing':
      return { model: missingModel(place.lookedFor), name: 'none', lookedFor: place.lookedFor };
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

function thinkingOf({ thinking, maxThinkingTokens }: ModelFlags): ModelRequest['thinking'] {
  if (thinking !== undefined) return thinking === 'adaptive' ? 'adaptive' : undefined;
  const budgetTokens = Math.floor(maxThinkingTokens ?? 0);
  return budgetTokens > 0 ? { budgetTokens } : undefined;
}
