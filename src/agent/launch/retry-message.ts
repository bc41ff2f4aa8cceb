import type { Frame } from '../../protocol/control-frame.ts';
import type { ModelFaultCode } from '../models/model.ts';
import type { RetryEvent } from '../models/retry.ts';

/** The `api_retry` message of a model that is asked again; `endpoint`, `reason` and `fallback_model` are ours. */
export function retryMessage({ fault, failures, maxRetries, delayMs, kind, model }: RetryEvent): Frame {
  return {
    type: 'system',
    subtype: 'api_retry',
    attempt: failures,
    max_retries: maxRetries,
    retry_delay_ms: delayMs,
    error_status: fault.status ?? null,
    error: WORDS[fault.code],
    ...(fault.endpoint !== undefined && { endpoint: fault.endpoint }),
    ...(fault.reason !== undefined && { reason: fault.reason }),
    ...(kind === 'fallback' && { fallback_model: model }),
  };
}

const WORDS: Readonly<Record<ModelFaultCode, string>> = {
  'rate-limited': 'rate_limit',
  overloaded: 'overloaded',
  failed: 'server_error',
  unreachable: 'unknown',
  unauthorized: 'authentication_failed',
  'bad-request': 'invalid_request',
  'too-long': 'invalid_request',
};
