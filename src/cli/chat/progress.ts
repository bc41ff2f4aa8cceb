import { isRecord } from '../../base/json-value.ts';
import { onOneLine } from './neutralise.ts';
import { cutTo } from './width.ts';

/** How far a call is, by its server's own measure. */
export type Progress = { readonly done?: number; readonly total?: number; readonly message?: string };

/** Reads what a server told of its progress, in MCP's words; `undefined` if that is nothing. */
export function progressOf(told: unknown): Progress | undefined {
  if (!isRecord(told)) return undefined;
  const { progress: done, total, message } = told;
  const progress: Progress = {
    ...(isNumber(done) && { done }),
    ...(isNumber(total) && total > 0 && { total }),
    ...(typeof message === 'string' && message.trim() !== '' && { message }),
  };
  return Object.keys(progress).length > 0 ? progress : undefined;
}

/** A percentage if there is a total, else a count; then the message, as far as a status has room for it. */
export function progressText({ done, total, message }: Progress): string {
  const parts = [
    ...(done === undefined ? [] : [total === undefined ? String(done) : percentage(done / total)]),
    ...(message === undefined ? [] : [cutTo(onOneLine(message), MESSAGE_COLUMNS)]),
  ];
  return parts.join(' ');
}

const MESSAGE_COLUMNS = 40;

function percentage(part: number): string {
  return `${Math.floor(100 * Math.min(1, Math.max(0, part)))} %`;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
