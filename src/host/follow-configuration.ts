import type { LoadedConfiguration } from '../config/loaded-configuration.ts';
import { sayNews } from '../config/say-news.ts';
import type { Servers } from '../mcp/servers/servers.ts';
import type { HostEvent } from './host-options.ts';

/** Runs what is configured, now and whenever something is saved, until what it gives is disposed of. */
export function followConfiguration(
  servers: Servers,
  { running }: LoadedConfiguration,
  emit: (event: HostEvent) => void,
): Disposable {
  const note = (message: string) => emit({ type: 'warning', server: '', message });
  servers.configure(running.servers);
  return running.follow({
    configure: (entries, now, before) => {
      const { added, removed, restarted } = servers.configure(entries);
      // Dialled anew they fail, and say why.
      for (const name of running.forbidden(before, now, servers.all)) void servers.reconnect(name);
      if (added.length + removed.length + restarted.length > 0)
        emit({ type: 'configured', added, removed, restarted });
      for (const text of sayNews(before, now)) note(text);
    },
    note,
  });
}
