import type { ServerExplanation } from './explanation.ts';

/** What a server is and what to do about it, in one line. */
export function inOneLine({ answer, next }: Pick<ServerExplanation, 'answer' | 'next'>): string {
  return [answer.replace(/\.$/, ''), ...next.slice(0, 1)].join('; ');
}
