import { isRecord } from '../../base/json-value.ts';
import { pluralize } from '../../base/text/display-text.ts';
import type { SDKResultMessage } from '../../protocol/agent-message.ts';
import { line, type Piece, type Span } from '../terminal/render.ts';
import { sanitizeLine, truncateToWidth } from '../terminal/terminal-text.ts';

type ResultBlock = { readonly type: string; readonly text?: string };

/** The input of a call on one line: `a: 2, b: 40`. Rendering truncates it. */
export function inputSummary(input: unknown): string {
  if (!isRecord(input)) return input === undefined ? '' : jsonOf(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : jsonOf(value)}`)
    .join(', ');
}

/** The field of a built-in tool's input that says what a call does. */
const MAIN_FIELDS: ReadonlyMap<string, string> = new Map([
  ['Bash', 'command'],
  ['Monitor', 'command'],
  ['Read', 'file_path'],
  ['Edit', 'file_path'],
  ['Write', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
  ['Agent', 'description'],
  ['Task', 'description'],
]);

/** What a call does, on one line: the command or the file of built-in tools, otherwise the input. */
export function callSummary(name: string, input: unknown): string {
  // The dialogue that asks the user shows the input of such a call.
  if (name === 'AskUserQuestion' || name === 'ExitPlanMode') return '';
  const field = MAIN_FIELDS.get(name);
  const main = field !== undefined && isRecord(input) ? input[field] : undefined;
  return typeof main === 'string' ? main : inputSummary(input);
}

/** Names channels: `channel chat`, `channels chat, phone`. */
export function channelNames(names: readonly string[]): string {
  return `${names.length === 1 ? 'channel' : 'channels'} ${names.join(', ')}`;
}

/** The first line of a tool result, and the number of further lines. */
export function resultSummary(content: string | readonly ResultBlock[] | undefined): string {
  const text = typeof content === 'string' ? content : (content ?? []).map(textOf).join('\n');
  const lines = text.split('\n').filter((row) => row.trim() !== '');
  const [first = '(no output)', ...rest] = lines;
  return rest.length === 0 ? first : `${first} (+${rest.length} lines)`;
}

/** A duration: `4.2 s`, `1 min 05 s`. */
export function elapsed(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

function textOf(block: ResultBlock): string {
  return block.type === 'text' ? (block.text ?? '') : `[${block.type}]`;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

/** The progress of a call, in units of the server. */
export type Progress = { readonly done?: number; readonly total?: number; readonly message?: string };

/** Parses a progress notification; `undefined` if it has no usable field. */
export function parseProgress(notification: unknown): Progress | undefined {
  if (!isRecord(notification)) return undefined;
  const { progress: done, total, message } = notification;
  const progress: Progress = {
    ...(isNumber(done) && { done }),
    ...(isNumber(total) && total > 0 && { total }),
    ...(typeof message === 'string' && message.trim() !== '' && { message }),
  };
  return Object.keys(progress).length > 0 ? progress : undefined;
}

/** A bar with a percentage if the total is known, else a count; then the truncated message. */
export function progressText({ done, total, message }: Progress): string {
  const parts = [
    ...(done === undefined ? [] : [total === undefined ? String(done) : progressBar(done / total)]),
    ...(message === undefined ? [] : [truncateToWidth(sanitizeLine(message), MESSAGE_COLUMNS)]),
  ];
  return parts.join(' ');
}

const MESSAGE_COLUMNS = 40;

const BAR_COLUMNS = 10;

function progressBar(part: number): string {
  const known = Math.min(1, Math.max(0, part));
  const filled = Math.floor(BAR_COLUMNS * known);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_COLUMNS - filled)} ${Math.floor(100 * known)} %`;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Formats an `api_retry` or `model_fallback` message: the endpoint, the error, and the next retry or the fallback model. Other agents name no endpoint. */
export function retryText(notice: Readonly<Record<string, unknown>>): string {
  const { attempt, max_retries, retry_delay_ms, fallback_model } = notice;
  if (typeof fallback_model === 'string')
    return `${failureText(notice)}; using the fallback model ${fallback_model}`;
  return `${failureText(notice)}; retry ${attempt} of ${max_retries} in ${elapsed(Number(retry_delay_ms))}`;
}

function failureText({ endpoint, reason, error_status, error }: Readonly<Record<string, unknown>>): string {
  const known = [error_status, error].filter(isInformative).join(' ');
  if (typeof endpoint !== 'string') return `Model request failed${known === '' ? '' : ` (${known})`}`;
  if (typeof error_status === 'number') return `${endpoint} returned ${known}`;
  return `Cannot reach ${endpoint}${typeof reason === 'string' ? ` (${reason})` : ''}`;
}

function isInformative(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && value !== 'unknown');
}

/** The end of a turn: nothing if it succeeded and its text was shown, else the failure. */
export function resultPieces(result: SDKResultMessage, hasText: boolean): Piece[] {
  if (result.subtype === 'success') {
    if (result.is_error) return [line([`✗ ${result.result}`, 'bad'])];
    return hasText || result.result === '' ? [] : [line(result.result)];
  }
  return failureTexts(result).map((text) => line([`✗ ${text}`, 'bad']));
}

/** Why a turn failed; never empty. */
export function failureTexts(result: SDKResultMessage): string[] {
  if (result.subtype === 'success') return [result.result || 'The turn failed'];
  const notification = (result.errors ?? []).filter((text) => text !== '');
  return notification.length > 0
    ? notification
    : [FAILURES[result.subtype] ?? `The turn failed: ${result.subtype}`];
}

const FAILURES: Readonly<Record<string, string>> = {
  error_max_turns: 'The turn reached its maximum number of model requests (--max-turns)',
  error_max_budget_usd: 'The conversation reached its maximum cost (--max-budget-usd)',
  error_during_execution: 'The turn was interrupted or failed',
};

export function succeeded(
  result: SDKResultMessage,
): result is Extract<SDKResultMessage, { subtype: 'success' }> {
  return result.subtype === 'success' && !result.is_error;
}

/** The prompt before the messages of the user. */
export const MESSAGE_PROMPT = '› ';
const MAX_ECHO_ROWS = 20;

/** What was typed at a prompt, as it stays on the screen. */
export function echoPiece(prompt: string, text: string, mark: string): Piece {
  const isMessage = prompt === MESSAGE_PROMPT;
  const rows = text.split('\n');
  const shown =
    rows.length > MAX_ECHO_ROWS
      ? [...rows.slice(0, MAX_ECHO_ROWS), `… ${pluralize(rows.length - MAX_ECHO_ROWS, 'more line')}`]
      : rows;
  const body = shown.join(`\n${isMessage ? '  ' : ''}`);
  const tail: Span[] = mark === '' ? [] : [[mark, 'dim']];
  return {
    kind: 'line',
    spans: [[prompt, 'accent'], [body, isMessage ? 'strong' : 'plain'], ...tail],
    overflow: 'wrap',
    hang: isMessage ? 2 : 0,
  };
}
