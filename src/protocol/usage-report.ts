import type { ApiUsage } from './messages-api.ts';

/** Tokens and costs of one model in a conversation. */
export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  cacheCreationEphemeral5mInputTokens?: number;
  cacheCreationEphemeral1hInputTokens?: number;
  webSearchRequests: number;
  costUSD: number;
  contextWindow: number;
  maxOutputTokens: number;
  canonicalModel?: string;
  provider?: string;
  costBasis?: 'list' | 'managed' | 'unknown';
};

/** The usage of a response whose members are all present. */
export type NonNullableUsage = { [Member in keyof ApiUsage]: NonNullable<ApiUsage[Member]> };

/** The costs, durations and changed lines of a session. */
export type SessionUsage = {
  total_cost_usd: number;
  total_api_duration_ms: number;
  total_duration_ms: number;
  total_lines_added: number;
  total_lines_removed: number;
  model_usage: Record<string, ModelUsage>;
};

/** Pay-as-you-go usage beyond a subscription. */
export type ExtraUsage = {
  is_enabled: boolean;
  monthly_limit: number | null;
  used_credits: number | null;
  utilization: number | null;
  currency?: string | null;
};

type LimitScope = { display_name: string } | null;

/** The session's usage and the account's rate limits, as an assistant message carries them. */
export type SDKUsageReport = {
  session: SessionUsage;
  rate_limits: {
    limits:
      | {
          kind: string;
          group: string;
          percent: number;
          resets_at: string | null;
          scope?: { model?: LimitScope; surface?: LimitScope } | null;
          severity: string;
          is_active: boolean;
        }[]
      | null;
    extra_usage?: ExtraUsage | null;
  } | null;
};

/** Whether tokens of a category are used, free, reserved or not loaded. */
export type ContextUsageKind = 'used' | 'free' | 'buffer' | 'deferred';

/** The tokens of one part of the context window. */
export type SDKContextUsageCategory = { name: string; tokens: number; kind: ContextUsageKind };

/** What fills the context window. */
export type SDKContextUsage = {
  model: string;
  total_tokens: number;
  raw_max_tokens: number;
  percentage: number;
  over_limit?: { tokens_over: number; kind: 'hard_limit' | 'compaction_window' };
  categories: SDKContextUsageCategory[];
  mcp_tools: { name: string; server_name: string; tokens: number }[];
  memory_files: { path: string; type: string; tokens: number }[];
  agents: { agent_type: string; source: string; tokens: number }[];
  skills?: { name: string; source: string; plugin_name?: string; tokens: number }[];
};

type LimitStatus = 'allowed' | 'allowed_warning' | 'rejected';

/** The state of the account's rate limits. */
export type SDKRateLimitInfo = {
  status: LimitStatus;
  resetsAt?: number;
  rateLimitType?:
    | 'five_hour'
    | 'seven_day'
    | 'seven_day_opus'
    | 'seven_day_sonnet'
    | 'seven_day_overage_included'
    | 'overage';
  utilization?: number;
  overageStatus?: LimitStatus;
  overageResetsAt?: number;
  overageDisabledReason?:
    | 'overage_not_provisioned'
    | 'org_level_disabled'
    | 'org_level_disabled_until'
    | 'out_of_credits'
    | 'seat_tier_level_disabled'
    | 'member_level_disabled'
    | 'seat_tier_zero_credit_limit'
    | 'group_zero_credit_limit'
    | 'member_zero_credit_limit'
    | 'org_service_level_disabled'
    | 'no_limits_configured'
    | 'fetch_error'
    | 'unknown';
  isUsingOverage?: boolean;
  overageInUse?: boolean;
  overageEnabled?: boolean;
  surpassedThreshold?: number;
  limitScope?: 'service' | 'channel' | 'group_pool';
  errorCode?: 'credits_required';
  canUserPurchaseCredits?: boolean;
  hasChargeableSavedPaymentMethod?: boolean;
};

/** The estimated tokens of a conversation by kind of message, in the response to `get_context_usage`. */
export type MessageBreakdown = {
  toolCallTokens: number;
  toolResultTokens: number;
  attachmentTokens: number;
  assistantMessageTokens: number;
  userMessageTokens: number;
  redirectedContextTokens: number;
  unattributedTokens: number;
  toolCallsByType: { name: string; callTokens: number; resultTokens: number }[];
  attachmentsByType: { name: string; tokens: number }[];
};
