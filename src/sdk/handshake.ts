import type { Frame } from '../protocol/control-frame.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import { ToolServer } from '../tool-server/tool-server.ts';
import type { Bridge } from './bridge.ts';
import { type Manifest, makeManifest } from './manifest.ts';
import type { SplitServers } from './mcp-servers.ts';
import type { Options } from './options.ts';

const MIN_INITIALIZE_MS = 60_000;

/** A minute at least: an agent with slow start-up hooks needs it. */
export function initializeLimit(override: string | undefined): number {
  const ms = Number(override);
  return Number.isFinite(ms) ? Math.max(ms, MIN_INITIALIZE_MS) : MIN_INITIALIZE_MS;
}

/**
 * The handshakes of in-process servers, made side by side; one that takes too long is left to the agent. Our own host
 * makes those of foreign servers itself: it offers them more than a handshake made beforehand could promise.
 */
export async function gatherManifests(
  servers: SplitServers,
  bridge: Bridge,
  which: 'all' | 'ours',
): Promise<Map<string, Manifest>> {
  const entries = [...servers.sdk].filter(([, it]) => which === 'all' || it.instance instanceof ToolServer);
  const manifests = await Promise.all(
    entries.map(async ([key, entry]) => {
      const session = bridge.session(key);
      return [key, session && (await makeManifest(entry, session))] as const;
    }),
  );
  return new Map(manifests.filter((it): it is readonly [string, Manifest] => it[1] !== undefined));
}

/** Hooks that must block cannot be left to an agent that does not know how. */
export function checkSupport({ hooks }: Options, response: Frame): void {
  const mustBlock = Object.values(hooks ?? {}).some((matchers) =>
    matchers.some((it) => it.onFailure === 'block'),
  );
  if (!mustBlock || response.hook_on_failure_supported === true) return;
  throw new SdkError(
    'control-failed',
    'The agent does not honour onFailure: "block" on hook matchers, so a hook that fails would not block',
  );
}
