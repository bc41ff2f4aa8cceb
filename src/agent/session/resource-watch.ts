import { formatChannelMessages } from '../../channels/channel-message.ts';
import type { Features } from '../../mcp/features/features.ts';
import type { Subscription } from '../../mcp/features/subscriptions.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Moment, NoticeBatch, NoticeSource } from '../tasks/notices.ts';

/** How many resources an agent may watch at once. */
const MAX_WATCHED = 100;
/** How often changes end the `Sleep` call of an agent. A server that is no channel must not keep the model busy. */
const WAKE_INTERVAL_MS = 10_000;

type Watched = { readonly server: string; readonly uri: string };

/** The resources whose changes the agent gets notices about. Changes start no turn: they wait for the next round or prompt. */
export class ResourceWatch implements NoticeSource, AsyncDisposable {
  readonly #wake: () => void;
  #wokenAt = Number.NEGATIVE_INFINITY;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #changed = new Map<string, Watched>();

  /** `wake` ends the `Sleep` call of the agent. */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** Returns why the resource cannot be watched; undefined if it is. */
  async add(
    server: string,
    uri: string,
    features: Features,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const key = keyOf({ server, uri });
    if (this.#subscriptions.has(key)) return undefined;
    if (this.#subscriptions.size >= MAX_WATCHED)
      return `at most ${MAX_WATCHED} resources can be watched; end another subscription first`;
    try {
      const listener = () => {
        this.#changed.set(key, { server, uri });
        if (performance.now() - this.#wokenAt < WAKE_INTERVAL_MS) return;
        this.#wokenAt = performance.now();
        this.#wake();
      };
      this.#subscriptions.set(key, await features.subscribe(server, uri, listener, { signal }));
      return undefined;
    } catch (failure) {
      signal.throwIfAborted();
      return messageOf(failure);
    }
  }

  async remove(server: string, uri: string): Promise<void> {
    const key = keyOf({ server, uri });
    await this.#subscriptions.get(key)?.unsubscribe();
    this.#subscriptions.delete(key);
    this.#changed.delete(key);
  }

  /** A resource that changed several times is reported once. */
  take(moment: Moment): NoticeBatch | undefined {
    if (moment !== 'round' && moment !== 'prompt') return undefined;
    const changed = [...this.#changed.values()];
    if (changed.length === 0) return undefined;
    this.#changed.clear();
    const bySource = Map.groupBy(changed, ({ server }) => server);
    return {
      notices: [...bySource].map(([server, resources]) => {
        const messages = resources.map(({ uri }) => ({ source: server, content: CHANGED, meta: { uri } }));
        return {
          text: formatChannelMessages(messages),
          origin: { kind: 'channel', server },
          details: {
            channel_messages: messages.map(({ meta }) => ({ content: `${meta.uri} has changed`, meta })),
          },
        };
      }),
      channelMessages: [],
      stored() {},
      dropped: () => {
        for (const it of changed) this.#changed.set(keyOf(it), it);
      },
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.clear();
  }

  /** Ends all subscriptions. */
  async clear(): Promise<void> {
    this.#changed.clear();
    const all = [...this.#subscriptions.values()];
    this.#subscriptions.clear();
    await Promise.all(all.map((it) => it.unsubscribe()));
  }
}

const CHANGED = 'The resource has changed. Read it again if you need it.';

function keyOf({ server, uri }: Watched): string {
  return JSON.stringify([server, uri]);
}
