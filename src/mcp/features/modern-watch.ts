import { isRecord } from '../../base/is-record.ts';
import { startTimer } from '../../base/timer.ts';
import type { Connection } from '../connection/connection.ts';
import { HostError } from '../connection/host-error.ts';
import { CONFIRM_MS, type Watch } from './watch.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** A stream that lasted so long was a good one: the next is opened soon. */
const GOOD_MS = 10_000;

/**
 * The stateless protocol: one stream that tells of all of them. Another set of resources is another stream, opened before
 * the old one is closed; one that breaks is opened again, and `onMissed` hears of that.
 */
export function modernWatch(connection: Connection, onMissed: () => void): Watch {
  /** What the server has agreed to tell of. */
  let agreed: readonly string[] = [];
  let current: AbortController | undefined;
  let wait: NodeJS.Timeout | undefined;
  let failures = 0;
  let isOver = false;
  let turns: Promise<unknown> = Promise.resolve();

  /** One after the other: what the server agrees to does not say which question it answers. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = turns.then(work);
    turns = done.catch(() => {});
    return done;
  };
  const open = async (uris: readonly string[], signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    const life = new AbortController();
    const giveUp = () => life.abort();
    signal?.addEventListener('abort', giveUp);
    // Once it is agreed to, the stream is everybody's.
    const { ended } = await listen(connection, uris, life).finally(() =>
      signal?.removeEventListener('abort', giveUp),
    );
    if (isOver) return life.abort();
    current?.abort();
    current = life;
    agreed = uris;
    const since = performance.now();
    void ended.then(() => {
      if (performance.now() - since > GOOD_MS) failures = 0;
      if (current === life) reopen();
    });
  };
  const reopen = () => {
    current = undefined;
    if (isOver || agreed.length === 0) return;
    wait = startTimer(Math.min(FIRST_WAIT_MS * 2 ** failures++, LONGEST_WAIT_MS), () => {
      const opened = inTurn(async () => {
        if (!current && !isOver && agreed.length > 0) await open(agreed);
      });
      opened.then(() => isOver || onMissed(), reopen);
    });
    wait.unref();
  };
  const close = () => {
    agreed = [];
    clearTimeout(wait);
    current?.abort();
    current = undefined;
  };

  return {
    begin: (_fresh, all, signal) => inTurn(() => open(all, signal)),
    end: (_uri, rest) => inTurn(async () => (rest.length > 0 ? open(rest) : close())),
    close() {
      isOver = true;
      close();
    },
  };
}

/** Resolves once the server has agreed, with what settles at the end of the stream; rejects if it does not agree. */
async function listen(
  connection: Connection,
  uris: readonly string[],
  life: AbortController,
): Promise<{ ended: Promise<void> }> {
  const answer = Promise.withResolvers<void>();
  const refuse = (fault: string) => answer.reject(new HostError('unreachable', connection.name, fault));
  const stop = connection.onNotice?.((method, params) => {
    if (method !== ACKNOWLEDGED || !isOwn(params)) return;
    const missing = uris.find((uri) => !honored(params).includes(uri));
    if (missing === undefined) answer.resolve();
    else refuse(`it does not tell of changes of ${missing}`);
  });
  const params = { notifications: { resourceSubscriptions: [...uris] } };
  const asked = connection.ask('subscriptions/listen', params, { signal: life.signal });
  const ended = asked.then(
    () => refuse('it ended the subscription before it confirmed it'),
    (failure: unknown) => answer.reject(failure),
  );
  const timer = startTimer(CONFIRM_MS, () =>
    refuse(`it did not confirm the subscription within ${CONFIRM_MS / 1000} s`),
  );
  try {
    await answer.promise;
    return { ended };
  } catch (failure) {
    life.abort();
    throw failure;
  } finally {
    clearTimeout(timer);
    stop?.();
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** Our requests are numbered; the stream for changed lists has a name. */
function isOwn({ _meta }: Readonly<Record<string, unknown>>): boolean {
  const id = isRecord(_meta) ? _meta[SUBSCRIPTION_ID] : undefined;
  return id === undefined || Number.isInteger(Number(id));
}

function honored({ notifications }: Readonly<Record<string, unknown>>): readonly unknown[] {
  const uris = isRecord(notifications) ? notifications.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris : [];
}
