import type { LoadedConfiguration } from './loaded-configuration.ts';
import type { Settings } from './settings/settings.ts';

/** The limits that settings set for all servers. */
export function configuredLimits(configuration: LoadedConfiguration | undefined): {
  readonly connectTimeoutMs?: number;
  readonly callTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
} {
  return limitsOf(configuration?.running.current.settings.timeouts ?? {});
}

/** As hosts and sessions call them. */
export function limitsOf({ connectMs, callMs, idleMs }: Settings['timeouts']) {
  return {
    ...(connectMs && { connectTimeoutMs: connectMs.value }),
    ...(callMs && { callTimeoutMs: callMs.value }),
    ...(idleMs && { idleTimeoutMs: idleMs.value }),
  };
}
