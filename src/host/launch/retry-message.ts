import type { Frame } from '../../protocol/control-frame.ts';
import type { ModelFaultCode } from '../model/model.ts';
import type { RetryEvent } from '../model/retry.ts';

/** What a program hears when a model is asked again. */
export function retryMessage({ fault, failures, maxFailures, delayMs }: RetryEvent): Frame {
  return {
    type: 'system',
    subtype: 'api_retry',
    attempt: failures,
    max_retries: maxFailures,
    retry_delay_ms: delayMs,
    error_status: fault.status ?? null,
    error: WORDS[fault.code],
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
