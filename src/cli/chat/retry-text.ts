import { elapsed } from './tool-text.ts';

/** What an `api_retry` message tells people: why the model did not answer, as far as known, and when it is asked again. */
export function retryText(notice: Readonly<Record<string, unknown>>): string {
  const { attempt, max_retries, retry_delay_ms, error_status, error } = notice;
  const known = [error_status, error].filter(isTelling).join(' ');
  const why = known === '' ? '' : ` (${known})`;
  return `The model did not answer${why}; trying again in ${elapsed(Number(retry_delay_ms))} (${attempt} of ${max_retries})`;
}

function isTelling(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && value !== 'unknown');
}
