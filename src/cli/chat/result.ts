import type { SDKResultMessage } from '../../protocol/agent-message.ts';
import { line, type Piece } from './piece.ts';

/** The end of a turn: nothing if it went well and was heard, else what went wrong. */
export function resultPieces(result: SDKResultMessage, hasText: boolean): Piece[] {
  if (result.subtype === 'success') {
    if (result.is_error) return [line([`✗ ${result.result}`, 'bad'])];
    return hasText || result.result === '' ? [] : [line(result.result)];
  }
  return failureTexts(result).map((text) => line([`✗ ${text}`, 'bad']));
}

/** Why a turn failed, for people; never empty. */
export function failureTexts(result: SDKResultMessage): string[] {
  if (result.subtype === 'success') return [result.result || 'The turn failed'];
  const told = (result.errors ?? []).filter((text) => text !== '');
  return told.length > 0 ? told : [WORDS[result.subtype] ?? `The turn ended with ${result.subtype}`];
}

const WORDS: Readonly<Record<string, string>> = {
  error_max_turns: 'The turn took as many rounds as it may',
  error_max_budget_usd: 'The budget is used up',
  error_during_execution: 'The turn was interrupted or failed',
};

export function succeeded(
  result: SDKResultMessage,
): result is Extract<SDKResultMessage, { subtype: 'success' }> {
  return result.subtype === 'success' && !result.is_error;
}
