import { isRecord } from '../../base/json-value.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';

/** A call's input in a few words: `a: 2, b: 40`. It may be long; the screen cuts it. */
export function inputSummary(input: unknown): string {
  if (!isRecord(input)) return input === undefined ? '' : jsonOf(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : jsonOf(value)}`)
    .join(', ');
}

/** The first line of what a tool gave, and how many there are. */
export function resultSummary(content: string | readonly UserBlock[] | undefined): string {
  const text = typeof content === 'string' ? content : (content ?? []).map(textOf).join('\n');
  const lines = text.split('\n').filter((row) => row.trim() !== '');
  const [first = '(nothing)', ...rest] = lines;
  return rest.length === 0 ? first : `${first} (+${rest.length} lines)`;
}

/** A time as people say it; `ms` may be anything from 0. */
export function elapsed(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

function textOf(block: UserBlock): string {
  return block.type === 'text' ? block.text : `[${block.type}]`;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
