import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import type { Server } from '../../../src/mcp/servers/server-status.ts';
import { PinWatch, placeOf } from '../../../src/pool/pinning/pin-watch.ts';
import { Pins } from '../../../src/pool/pinning/pins.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';
import { tool } from './tools.ts';

describe('pin watch', () => {
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

  test('a list is compared once, a change is reported once, and changing back is not reported', () => {
    const { notes, pins } = watch();
    pins.check('s', server(listing(ONE)));
    const changed = server(listing(TWO));
    for (const it of [changed, changed, server(listing(ONE)), server(listing(TWO))]) pins.check('s', it);
    expect(notes).toEqual([
      's/find: the tool changed since it was accepted: readOnlyHint true → none; title none → "Two"',
    ]);
  });

  test('the server’s current list counts, not the definition of the call', () => {
    const { pins } = watch();
    pins.check('s', server(listing(ONE)));
    expect(pins.changeOf('s', server(listing(TWO)), ONE)?.after).toEqual(TWO);
    expect(pins.changeOf('s', server(listing(ONE)), TWO)).toBeUndefined();
  });

  test('a server is compared at the latest when one of its tools is called', () => {
    const { pins } = watch();
    expect(pins.changeOf('s', server(listing(ONE)), ONE)).toBeUndefined();
    expect(pins.changeOf('s', server(listing(TWO)), TWO)).toBeDefined();
  });

  test('a disconnected server is compared by its own last list, never by a cached one', () => {
    const { notes, pins } = watch();
    expect(pins.changeOf('s', { ...server(AWAY), isVerified: false }, TWO)).toBeUndefined();
    pins.check('s', server(AWAY));
    pins.check('s', server(listing(ONE)));
    expect(pins.changeOf('s', { ...server(AWAY), isVerified: false }, TWO)).toBeUndefined();
    expect(pins.changeOf('s', { ...server(AWAY), isVerified: true }, TWO)).toBeDefined();
    expect(pins.changeOf('s', { ...server(AWAY), isVerified: true }, ONE)).toBeUndefined();
    expect(notes).toEqual([]);
  });

  test('an accepted change is not reported again; only shared pins can be accepted by a command', () => {
    const { pins } = watch();
    pins.check('s', server(listing(ONE)));
    const change = pins.changeOf('s', server(listing(TWO)), TWO);
    if (!change) throw new Error('it has changed');
    expect(pins.remedyOf(change)).toBe('to allow the call, return allow from canUseTool');
    pins.accept(change);
    expect(pins.changeOf('s', server(listing(TWO)), TWO)).toBeUndefined();
  });
});

describe('place of', () => {
  const NPX: ServerEntry = { command: 'npx', args: ['-y', '@scope/server'] };
  const same = (one: ServerEntry, other: ServerEntry, cwds: [string, string] = ['/a', '/a']) =>
    placeOf(one, cwds[0]) === placeOf(other, cwds[1]);

  test.each<[string, ServerEntry, ServerEntry]>([
    ['another environment', NPX, { ...NPX, env: { TOKEN: 'x' } }],
    ['a type that is said', NPX, { ...NPX, type: 'stdio' }],
    ['trust and time limits', NPX, { ...NPX, trust: true, timeout: 5_000 }],
    [
      'other credentials',
      { type: 'http', url: 'https://x/mcp' },
      { type: 'http', url: 'https://x/mcp', headers: { Authorization: 'x' } },
    ],
    ['http or sse', { type: 'sse', url: 'https://x/mcp' }, { url: 'https://x/mcp' }],
    [
      'an editor on another port',
      { type: 'ws-ide', url: 'ws://127.0.0.1:1', ideName: 'code' },
      { type: 'ws-ide', url: 'ws://127.0.0.1:2', ideName: 'code' },
    ],
  ])('the same server: %s', (_, one, other) => {
    expect(same(one, other)).toBe(true);
  });

  test.each<[string, ServerEntry, ServerEntry]>([
    ['another command', NPX, { ...NPX, command: 'bunx' }],
    ['other arguments', NPX, { ...NPX, args: ['-y', '@scope/evil'] }],
    ['another directory of its own', { ...NPX, cwd: '/a' }, { ...NPX, cwd: '/b' }],
    ['another address', { url: 'https://x/mcp' }, { url: 'https://y/mcp' }],
    ['a process and an address', NPX, { url: 'https://x/mcp' }],
  ])('another server: %s', (_, one, other) => {
    expect(same(one, other)).toBe(false);
  });

  test('the working directory counts only for a command with a relative path', () => {
    expect(same(NPX, NPX, ['/a', '/b'])).toBe(true);
    for (const args of [['./server'], ['server.mjs'], ['src/main.py'], ['..'], ['run', 'x.ts']]) {
      expect(same({ command: 'x', args }, { command: 'x', args }, ['/a', '/b'])).toBe(false);
      expect(same({ command: 'x', args }, { command: 'x', args }, ['/a', '/a'])).toBe(true);
    }
    const absolute = { command: 'node', args: ['/srv/server.mjs'] };
    expect(same(absolute, absolute, ['/a', '/b'])).toBe(true);
    // The value of the variable identifies the directory.
    const open = { command: 'node', args: ['${ROOT}/server.mjs'] };
    expect(same(open, open, ['/a', '/b'])).toBe(true);
  });

  test('in-process servers have no place, and a place reveals no secrets', () => {
    expect(placeOf({ type: 'sdk', name: 'x' }, '/a')).toBeUndefined();
    expect(placeOf({ ...NPX, args: ['--token=sesame'] }, '/a')).toMatch(/^[\w-]{43}$/);
  });
});
