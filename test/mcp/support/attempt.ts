import { expect } from 'vitest';
import { connect } from '../../../src/mcp/connection/connect.ts';
import type { ConnectContext, ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { testWorld } from './servers.ts';

/** A connection that is closed at the end of the test. */
export async function open(entry: ServerEntry, world: ConnectContext = testWorld()) {
  const connection = await connect('srv', entry, world, new AbortController().signal);
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
}

/** The error of a connection attempt that must fail. */
export const failure = (entry: ServerEntry, world = testWorld(), signal = new AbortController().signal) =>
  connect('srv', entry, world, signal).then(
    () => expect.unreachable('it connected'),
    (thrown: unknown) => thrown,
  );
