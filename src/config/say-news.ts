import type { Configuration } from './configuration.ts';
import { faultText } from './fault-text.ts';
import { sayStart } from './say-start.ts';

/** What a person should know now and did not have to know before. Faults are not among it: who reads the files tells them. */
export function sayNews(before: Configuration, now: Configuration): string[] {
  const faults = new Set(now.faults.map(faultText));
  const known = new Set(sayStart(before).map(withoutPlace));
  return sayStart(now).filter((text) => !faults.has(text) && !known.has(withoutPlace(text)));
}

/** What only moved in its file is no news. */
function withoutPlace(text: string): string {
  return text.replace(/:\d+:\d+ /, ' ');
}
