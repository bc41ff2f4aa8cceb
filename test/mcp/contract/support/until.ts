import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the condition holds, where no event reports it: a process has ended, a server has received a message. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 8000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`in vain waited for this: ${what}`);
    await sleep(10);
  }
}
