// A channel that reports failed builds: toolplane serve examples/servers/ci-alerts.ts
// It reads CI_STATUS, a URL that returns [{ "id": 7, "branch": "main", "status": "failed" }], again and again.
import { toolServer } from 'toolplane';
import { z } from 'zod';

const builds = z.array(z.object({ id: z.number(), branch: z.string(), status: z.string() }));
type Build = z.infer<typeof builds>[number];
let last: readonly Build[] = [];
const reported = new Set<number>();

const ci = toolServer('ci', {
  instructions: 'Messages of this channel are failed builds. The tool builds lists all builds.',
  channel: {
    // A build whose alert was refused is reported again.
    onReceipt: ({ kind, id }) => void (kind === 'nack' && reported.delete(Number(id?.replace('build-', '')))),
  },
}).tool('builds', 'The builds and their status', {}, () => ({ builds: last }), {
  annotations: { readOnlyHint: true },
});
export default ci;

/** Reads the status once, and sends an alert for each new failure. */
export async function check(url: string): Promise<void> {
  last = builds.parse(await (await fetch(url)).json());
  for (const { id, branch, status } of last) {
    if (status !== 'failed' || reported.has(id)) continue;
    // The id keeps an alert from being delivered again after a restart of this server.
    await ci.channel.send(`Build ${id} of ${branch} failed`, { id: `build-${id}`, branch });
    reported.add(id);
  }
}

const url = process.env.CI_STATUS;
if (url !== undefined) {
  const seconds = Number(process.env.CI_SECONDS ?? 30);
  // Without a connected agent, or if the CI is down, the next check tries again.
  setInterval(() => void check(url).catch((cause) => console.error(`ci: ${cause}`)), seconds * 1000);
}
