import type { Usage } from '../../protocol/agent-message.ts';

export const NO_USAGE: Usage = Object.freeze({ input_tokens: 0, output_tokens: 0 });

/** What two replies used together; what is no number is left as the first has it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { ...a };
  for (const [name, value] of Object.entries(b)) {
    if (typeof value !== 'number') continue;
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    sum[name] = (typeof before === 'number' ? before : 0) + value;
  }
  return sum;
}
