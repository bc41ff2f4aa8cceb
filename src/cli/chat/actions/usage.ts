import { isRecord } from '../../../base/json-value.ts';
import type { Frame } from '../../../protocol/control-frame.ts';
import { line, type Piece, type Span } from '../../terminal/render.ts';
import { sanitizeLine } from '../../terminal/terminal-text.ts';
import type { Totals } from '../view.ts';

/** `/cost`: usage so far; `context` is the agent's own report of its context window. */
export function usageText(totals: Totals, context: Frame | undefined): Piece[] {
  const { prompts, turns, inputTokens, cachedTokens, outputTokens, usd } = totals;
  const none = prompts === 0 ? '$0' : 'unknown for this model';
  const money = usd > 0 ? `$${usd.toFixed(usd < 1 ? 4 : 2)}` : none;
  const cached = cachedTokens > 0 ? ` (${number(cachedTokens)} from the cache)` : '';
  return [
    line(`  tokens   ${number(inputTokens)} in${cached}, ${number(outputTokens)} out`),
    line(`  turns    ${number(turns)} for ${number(prompts)} ${prompts === 1 ? 'prompt' : 'prompts'}`),
    line(`  cost     ${money}`),
    ...contextText(context),
  ];
}

function contextText(context: Frame | undefined): Piece[] {
  const { totalTokens: used, maxTokens: max } = context ?? {};
  if (typeof used !== 'number' || typeof max !== 'number' || max <= 0) return [];
  return [line(`  context  ${number(used)} of ${number(max)} tokens (${percent(used, max)})`)];
}

const BAR_COLUMNS = 20;

/** `/context`: what fills the context window, as the agent reports it. */
export function contextReport(context: Frame): Piece[] {
  const { totalTokens: used, maxTokens: max, categories } = context;
  if (typeof used !== 'number' || typeof max !== 'number' || max <= 0) {
    return [line(['The agent does not report its context usage.', 'warn'])];
  }
  const rows = (Array.isArray(categories) ? categories : [])
    .filter(isRecord)
    .flatMap(({ name, tokens }) =>
      typeof tokens === 'number' && tokens > 0 ? [{ name: sanitizeLine(String(name)), tokens }] : [],
    );
  const widest = Math.max(8, ...rows.map(({ name }) => name.length));
  const digits = number(Math.max(max, ...rows.map(({ tokens }) => tokens))).length;
  const filled = Math.min(BAR_COLUMNS, Math.round((BAR_COLUMNS * used) / max));
  const bar: Span[] = [
    ['█'.repeat(filled), 'accent'],
    ['░'.repeat(BAR_COLUMNS - filled), 'dim'],
  ];
  return [
    line('  ', ...bar, `  ${number(used)} of ${number(max)} tokens (${percent(used, max)})`),
    ...rows.map(({ name, tokens }) =>
      line('  ', name.padEnd(widest), [
        `  ${number(tokens).padStart(digits)}  ${percent(tokens, max)}`,
        'dim',
      ]),
    ),
  ];
}

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
