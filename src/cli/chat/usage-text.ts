import type { Frame } from '../../protocol/control-frame.ts';
import { line, type Piece } from './piece.ts';
import type { Totals } from './totals.ts';

/** `/cost`: what was used; `context` is the agent's own account of its window, if it gives one. */
export function usageText(totals: Totals, context: Frame | undefined): Piece[] {
  const { prompts, turns, inputTokens, cachedTokens, outputTokens, usd } = totals;
  const money = usd > 0 ? `$${usd.toFixed(usd < 1 ? 4 : 2)}` : 'not known for this model';
  const cached = cachedTokens > 0 ? ` (${number(cachedTokens)} from the cache)` : '';
  return [
    line(`  tokens   ${number(inputTokens)} in${cached}, ${number(outputTokens)} out`),
    line(`  turns    ${number(turns)} for ${number(prompts)} ${prompts === 1 ? 'prompt' : 'prompts'}`),
    line(`  money    ${money}`),
    ...contextText(context),
  ];
}

function contextText(context: Frame | undefined): Piece[] {
  const { totalTokens: used, maxTokens: most } = context ?? {};
  if (typeof used !== 'number' || typeof most !== 'number' || most <= 0) return [];
  return [
    line(`  context  ${number(used)} of ${number(most)} tokens (${Math.round((100 * used) / most)} %)`),
  ];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
