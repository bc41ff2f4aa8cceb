import { type Call, runningCalls } from './call-log.ts';
import { progressText } from './progress.ts';
import { elapsed } from './tool-text.ts';
import type { View } from './view.ts';

/** What goes on in a turn that began at `since`: the oldest running call and how far it is, or the model at work. */
export function statusLine(view: View, since: number, now: number): string {
  const [oldest, ...others] = runningCalls(view.calls);
  const what = oldest ? callText(oldest, now) : `thinking ${elapsed(now - since)}`;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${what}${more} · Ctrl-C interrupts`;
}

function callText({ name, since, progress }: Call, now: number): string {
  return `${name} ${elapsed(now - since)}${progress ? ` · ${progressText(progress)}` : ''}`;
}
