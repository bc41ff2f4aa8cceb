import { expect, test } from 'vitest';
import type { Server } from '../../../src/mcp/servers/server-status.ts';
import { PinWatch } from '../../../src/pool/pinning/pin-watch.ts';
import { Pins } from '../../../src/pool/pinning/pins.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';
import { tool } from './tools.ts';

const ONE = tool({ annotations: { readOnlyHint: true } });
const TWO = tool({ title: 'Two' });
const AWAY: Server['state'] = { kind: 'pending' };
const listing = (...tools: ListedTool[]): Server['state'] => ({
  kind: 'connected',
  connection: {} as never,
  tools,
  prompts: [],
});
const server = (state: Server['state']): Server => ({ entry: { command: 'x' }, origin: 'config', state });

function watch() {
  const notes: string[] = [];
  return {
    notes,
    pins: new PinWatch(new Pins(), '/w', {
      changed: ({ server, tool, text }) => notes.push(`${server}/${tool}: ${text}`),
      added: (server, changes) => notes.push(`${server}: + ${changes.map(({ tool }) => tool).join()}`),
      remark: (server, message) => notes.push(`${server}: ${message}`),
    }),
  };
}

test('a list is looked at once, a change is told once, and what it changes back to needs no telling', () => {
  const { notes, pins } = watch();
  pins.look('s', server(listing(ONE)));
  const changed = server(listing(TWO));
  for (const it of [changed, changed, server(listing(ONE)), server(listing(TWO))]) pins.look('s', it);
  expect(notes).toEqual([
    's/find: it changed since it was accepted: readOnlyHint true → gone; title none → "Two"',
  ]);
});

test('what counts is what the server lists now, not what the call was made of', () => {
  const { pins } = watch();
  pins.look('s', server(listing(ONE)));
  expect(pins.changeOf('s', server(listing(TWO)), ONE)?.after).toEqual(TWO);
  expect(pins.changeOf('s', server(listing(ONE)), TWO)).toBeUndefined();
});

test('a server that nobody looked at is looked at when one of its tools is called', () => {
  const { pins } = watch();
  expect(pins.changeOf('s', server(listing(ONE)), ONE)).toBeUndefined();
  expect(pins.changeOf('s', server(listing(TWO)), TWO)).toBeDefined();
});

test('a server that is away is compared by what it listed itself, never by what it listed in an earlier life', () => {
  const { notes, pins } = watch();
  expect(pins.changeOf('s', { ...server(AWAY), isVerified: false }, TWO)).toBeUndefined();
  pins.look('s', server(AWAY));
  pins.look('s', server(listing(ONE)));
  expect(pins.changeOf('s', { ...server(AWAY), isVerified: false }, TWO)).toBeUndefined();
  expect(pins.changeOf('s', { ...server(AWAY), isVerified: true }, TWO)).toBeDefined();
  expect(pins.changeOf('s', { ...server(AWAY), isVerified: true }, ONE)).toBeUndefined();
  expect(notes).toEqual([]);
});

test('what is accepted is told to nobody again, and only a lasting memory can be changed by others', () => {
  const { pins } = watch();
  pins.look('s', server(listing(ONE)));
  const change = pins.changeOf('s', server(listing(TWO)), TWO);
  if (!change) throw new Error('it has changed');
  expect(pins.remedyOf(change)).toBe('to let it run, allow it in canUseTool');
  pins.accept(change);
  expect(pins.changeOf('s', server(listing(TWO)), TWO)).toBeUndefined();
});
