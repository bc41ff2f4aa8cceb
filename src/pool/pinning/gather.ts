import type { Difference } from './difference.ts';
import type { Effort } from './effort.ts';

/** Takes one difference; its text is made only if it will be read. */
export type Tell = (part: string, severity: Difference['severity'], text: () => string) => void;

/** How many of each severity are told of one tool. */
const MOST_TOLD = 100;

/** Collects what `find` tells, the gravest first; of what is too much, how much it is. */
export function gather(effort: Effort, find: (tell: Tell) => void): Difference[] {
  const told: Difference[] = [];
  const counts = { high: 0, medium: 0, low: 0 };
  const left = { high: 0, medium: 0, low: 0 };
  find((part, severity, text) => {
    if (told.length > 0 && (effort.texts <= 0 || counts[severity] === MOST_TOLD)) {
      left[severity]++;
      return;
    }
    effort.texts--;
    counts[severity]++;
    told.push({ part, severity, text: text() });
  });
  const rest = SEVERITIES.flatMap((severity): Difference[] => {
    const count = left[severity];
    if (count === 0) return [];
    const text = `${count} more ${severity === 'high' ? 'grave ' : ''}${count === 1 ? 'change' : 'changes'}`;
    return [{ part: '…', severity, text, count }];
  });
  const rank = ({ severity }: Difference) => SEVERITIES.indexOf(severity);
  return [...told, ...rest].toSorted((a, b) => rank(a) - rank(b));
}

const SEVERITIES = ['high', 'medium', 'low'] as const;
