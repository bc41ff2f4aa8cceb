import type { HostServerEntry } from '../../../../src/entry/host.ts';
import { Book } from '../fixtures/book.ts';
import { makeOwn } from '../fixtures/make-own.ts';
import { makeV1 } from '../fixtures/make-v1.ts';
import { makeV2 } from '../fixtures/make-v2.ts';
import type { Far } from './set-up.ts';

type Connected = { isConnected(): boolean };

/** The contract server in this process, by the SDK that implements it. */
export const IN_PROCESS = {
  own: async () => {
    const { instance } = makeOwn(new Book());
    return far(instance, () => [instance]);
  },
  v1: async () => {
    const instance = makeV1(new Book());
    return far(instance, () => [instance]);
  },
  v2: async () => {
    const book = new Book();
    const made: Connected[] = [];
    const make = () => {
      const server = makeV2(book, { era: 'legacy' });
      server.server.oninitialized = () => void book.handshakes++;
      made.push(server);
      return server;
    };
    return far(make, () => made);
  },
} satisfies Record<string, () => Promise<Far>>;

function far(instance: unknown, servers: () => Connected[]): Far {
  const entry: HostServerEntry = { type: 'sdk', name: 'contract', instance };
  const nothing = async () => {};
  return {
    entry,
    stop: nothing,
    revive: nothing,
    cut: () => {},
    lock: () => {},
    left: () => servers().filter((server) => server.isConnected()).length,
    [Symbol.asyncDispose]: nothing,
  };
}
