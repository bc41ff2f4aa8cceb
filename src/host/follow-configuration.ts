import type { HostEvent } from './host-options.ts';
import type { LoadedConfiguration } from './loaded-configuration.ts';
import type { Servers } from './servers/servers.ts';

/** Runs what is configured, now and whenever something is saved, until the configuration is disposed of. */
export function followConfiguration(
  servers: Servers,
  { running }: LoadedConfiguration,
  emit: (event: HostEvent) => void,
): void {
  servers.configure(running.servers);
  running.follow({
    configure: (entries) => {
      const { added, removed, restarted } = servers.configure(entries);
      if (added.length + removed.length + restarted.length === 0) return;
      emit({ type: 'configured', added, removed, restarted });
    },
    note: (message) => emit({ type: 'warning', server: '', message }),
  });
}
