import { elapsed } from './tool-text.ts';

/** Formats an `api_retry` message: which endpoint failed, why, and when the next try is or which model is asked instead. Other agents name no endpoint. */
export function retryText(notice: Readonly<Record<string, unknown>>): string {
  const { attempt, max_retries, retry_delay_ms, fallback_model } = notice;
  if (typeof fallback_model === 'string')
    return `${failureText(notice)}; using the fallback model ${fallback_model}`;
  return `${failureText(notice)}; retry ${attempt} of ${max_retries} in ${elapsed(Number(retry_delay_ms))}`;
}

function failureText({ endpoint, reason, error_status, error }: Readonly<Record<string, unknown>>): string {
  const known = [error_status, error].filter(isTelling).join(' ');
  if (typeof endpoint !== 'string') return `Model request failed${known === '' ? '' : ` (${known})`}`;
  if (typeof error_status === 'number') return `${endpoint} answered ${known}`;
  return `Cannot reach ${endpoint}${typeof reason === 'string' ? ` (${reason})` : ''}`;
}

function isTelling(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && value !== 'unknown');
}
