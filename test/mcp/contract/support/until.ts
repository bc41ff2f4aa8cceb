import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until it is so, for what nobody tells of: that a process is gone, that a server has heard. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 8000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`in vain waited for this: ${what}`);
    await sleep(10);
  }
}
