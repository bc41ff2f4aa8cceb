import type { ChannelSetting } from '../config/settings/channel-settings.ts';
import { CHANNEL } from '../protocol/mcp.ts';

/** The source of messages that `toolplane channels send` stores. */
export const LOCAL_SOURCE = 'local';

/** When messages are delivered: between the tool rounds of a running turn, or only when no turn runs. */
export type Moment = 'round' | 'idle';

/** A connected server, as far as channels use it. */
export type ChannelConnection = {
  readonly capabilities: { readonly experimental?: Readonly<Record<string, unknown>> | undefined };
  notify(method: string, params: Record<string, unknown>): void;
};

/** The servers that are enabled as channels, and their connections. */
export class ChannelServers {
  readonly #settings: Readonly<Record<string, ChannelSetting>>;
  readonly #connection: (server: string) => ChannelConnection | undefined;

  constructor(
    settings: Readonly<Record<string, ChannelSetting>>,
    connection: (server: string) => ChannelConnection | undefined,
  ) {
    this.#settings = settings;
    this.#connection = connection;
  }

  get names(): readonly string[] {
    return Object.keys(this.#settings);
  }

  /** Undefined unless the server is enabled. */
  setting(server: string): ChannelSetting | undefined {
    return Object.hasOwn(this.#settings, server) ? this.#settings[server] : undefined;
  }

  /** The sources whose messages may be delivered at that moment. */
  sources(moment: Moment): string[] {
    const named = Object.entries(this.#settings).filter(
      ([, { priority }]) => moment === 'idle' || priority === 'next',
    );
    return [...new Set([...named.map(([name]) => name), LOCAL_SOURCE])];
  }

  isConnected(server: string): boolean {
    return this.#connection(server) !== undefined;
  }

  /** Whether the server is connected and may push messages. */
  isChannel(server: string): boolean {
    const connection = this.#connection(server);
    return connection !== undefined && declares(connection, CHANNEL.capability);
  }

  notify(server: string, method: string, params: Record<string, unknown>): void {
    this.#connection(server)?.notify(method, params);
  }
}

/** Whether the server declares the capability. */
export function declares({ capabilities }: ChannelConnection, name: string): boolean {
  const { experimental } = capabilities;
  return experimental !== undefined && Object.hasOwn(experimental, name);
}
