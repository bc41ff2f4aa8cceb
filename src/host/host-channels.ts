import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { backoffMs, SYSTEM_CLOCK } from '../base/async/timers.ts';
import { formatChannelMessages } from '../channels/channel-message.ts';
import type { ChannelConnection } from '../channels/channel-servers.ts';
import { Channels } from '../channels/channels.ts';
import { Inbox } from '../channels/inbox.ts';
import type { StoredMessage } from '../channels/stored-message.ts';
import { CHANNEL_DEFAULTS, type ChannelSetting } from '../config/settings/channel-settings.ts';
import { messageOf } from '../protocol/sdk-error.ts';

/** A message of a channel, as a program receives it. */
export type ChannelMessage = {
  /** `meta.id`, or the id that the host assigned. */
  readonly id: string;
  /** The name of the server. */
  readonly source: string;
  /** When the message was stored, in milliseconds since 1970. */
  readonly at: number;
  readonly content: string;
  readonly meta: Readonly<Record<string, string>>;
  /** The message for a model: escaped, with its source, and labelled as data from outside. */
  readonly text: string;
};

/** The option `channels` of a host: servers that may push messages to the program. */
export type HostChannels = {
  /** The servers, by name; `true` for the default limits. */
  servers: Readonly<Record<string, true | Partial<ChannelSetting>>>;
  /**
   * Receives each message, one at a time and in the order of its server. The message counts as delivered once the returned
   * promise resolves; if it rejects, the message is delivered again later.
   */
  onMessage(message: ChannelMessage): void | Promise<void>;
  /** The directory of the inbox. Default: `channels` in `TOOLPLANE_HOME` or `~/.toolplane`. */
  directory?: string;
};

const RETRY = { firstMs: 500, maxMs: 30_000 };

type HostChannelsDeps = {
  readonly options: HostChannels;
  readonly project: string;
  /** Toolplane's directory of the user. */
  readonly home: string | undefined;
  connection(server: string): ChannelConnection | undefined;
  warn(message: string): void;
};

/** Passes the messages of channels to the program, which may have ended before it received earlier ones. */
export class HostChannelDelivery implements AsyncDisposable {
  readonly channels: Channels;
  readonly #deps: HostChannelsDeps;
  #delivering: Promise<void> | undefined;
  /** The sources whose last message failed: how often, and the timer of the next attempt. */
  readonly #failed = new Map<string, { readonly failures: number; readonly timer: NodeJS.Timeout }>();
  readonly #paused = new Set<string>();
  #isClosed = false;

  constructor(deps: HostChannelsDeps) {
    this.#deps = deps;
    const { servers, directory } = deps.options;
    const settings = Object.entries(servers).map(
      ([name, given]) => [name, { ...CHANNEL_DEFAULTS, ...(given === true ? {} : given) }] as const,
    );
    this.channels = new Channels({
      owner: { project: deps.project, conversation: `host ${randomUUID()}` },
      settings: Object.fromEntries(settings),
      clock: SYSTEM_CLOCK,
      openInbox: () => Inbox.open(directory ?? inboxDirectory(deps.home)),
      connection: deps.connection,
      onPending: () => this.#start(),
      note: deps.warn,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#failed.values()) clearTimeout(timer);
    await this.#delivering;
    await this.channels[Symbol.asyncDispose]();
  }

  #start(): void {
    if (this.#isClosed || this.#delivering !== undefined) return;
    this.#delivering = this.#deliver().finally(() => {
      this.#delivering = undefined;
    });
  }

  async #deliver(): Promise<void> {
    for (;;) {
      const batch = this.channels.take('idle', this.#paused);
      if (batch.length === 0) return;
      for (const message of batch) {
        // A later message of the same source waits too, so that the order is kept.
        const isDue = !this.#isClosed && !this.#paused.has(message.source);
        if (isDue && (await this.#deliverOne(message))) this.channels.delivered([message]);
        else this.channels.giveBack([message]);
      }
      if (this.#isClosed) return;
    }
  }

  async #deliverOne(stored: StoredMessage): Promise<boolean> {
    const { id, source, at, content, meta } = stored;
    try {
      const text = formatChannelMessages([stored]);
      await this.#deps.options.onMessage({ id, source, at, content, meta, text });
      this.#failed.delete(source);
      return true;
    } catch (cause) {
      const failures = (this.#failed.get(source)?.failures ?? 0) + 1;
      const delayMs = backoffMs(RETRY, failures);
      this.#deps.warn(
        `channel "${source}": onMessage failed for message ${JSON.stringify(id)} (${messageOf(cause)}); it is delivered again in ${delayMs / 1000} s`,
      );
      const timer = setTimeout(() => {
        this.#paused.delete(source);
        this.#start();
      }, delayMs).unref();
      this.#paused.add(source);
      this.#failed.set(source, { failures, timer });
      return false;
    }
  }
}

function inboxDirectory(home: string | undefined): string {
  if (home === undefined)
    throw new Error('the user has no home directory; set "directory" of the option channels');
  return join(home, 'channels');
}
