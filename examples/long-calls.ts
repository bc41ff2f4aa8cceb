// Limits of calls: total time, silence, and cancelling.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { toolServer } from 'toolplane';
import { createHost } from 'toolplane/host';

let wasCancelled = false;
const works = toolServer('works')
  .tool('build', 'Builds, and says how far it is', {}, async (_, ctx) => {
    for (let step = 1; step <= 5; step++) {
      await delay(60);
      ctx.progress(step, { total: 5, message: `step ${step}` });
    }
    return 'built';
  })
  .tool('hang', 'Never answers', {}, async (_, ctx) => {
    await once(ctx.signal);
    wasCancelled = true;
    return 'never seen';
  });

await using host = createHost({ mcpServers: { works } });
await host.ready();

// #region progress
// 300 ms of work with a limit of 200 ms: with onProgress, the limit applies to silence.
const steps: string[] = [];
const built = await host.callTool(
  'works',
  'build',
  {},
  { timeoutMs: 200, onProgress: ({ message }) => steps.push(String(message)) },
);
console.log(steps, built.content);
// #endregion

// #region timeout
await host.callTool('works', 'hang', {}, { timeoutMs: 100 }).catch((error) => console.log(error.message));
// #endregion

// #region abort
const stop = new AbortController();
const hanging = host.callTool('works', 'hang', {}, { signal: stop.signal });
stop.abort();
await hanging.catch((error) => console.log(error.name)); // immediately; the server is notified
// #endregion

assert.equal(steps.length, 5);
assert(wasCancelled);

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
