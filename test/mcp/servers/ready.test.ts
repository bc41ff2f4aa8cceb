import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import type { StartProgress } from '../../../src/mcp/servers/servers-options.ts';
import { gate } from '../../support/gate.ts';
import { Fleet, hang, http, refuse } from './support/fleet.ts';

const required = { ...http, required: true } as ServerEntry;
const onDemand = { ...http, start: 'on-demand' } as ServerEntry;

describe('being ready', () => {
  test('resolves when every server is connected or has failed', async () => {
    const fleet = new Fleet();
    const door = gate();
    fleet.set('slow', () => door.pass());
    fleet.set('bad', refuse('unreachable'));
    fleet.servers.add({ slow: http, bad: http, later: onDemand }, 'dynamic');
    let isReady = false;
    const ready = fleet.servers.ready().then(() => {
      isReady = true;
    });
    await door.reached;
    await fleet.clock.advance(100);
    expect([isReady, fleet.state('bad')?.state]).toEqual([false, 'failed']);
    door.open();
    await ready;
    expect(['slow', 'bad', 'later'].map((it) => fleet.state(it)?.state)).toEqual([
      'connected',
      'failed',
      'pending',
    ]);
  });

  test('does not wait for retries of failed servers', async () => {
    const fleet = new Fleet();
    fleet.set('bad', refuse('unreachable'));
    fleet.servers.add({ bad: http }, 'dynamic');
    await fleet.servers.ready();
    fleet.set('bad', hang);
    await fleet.clock.advance(1_000);
    expect(fleet.state('bad')?.state).toBe('connecting');
    await fleet.servers.ready();
  });

  test('rejects with every required server that is not connected, and the reason', async () => {
    const fleet = new Fleet();
    for (const name of ['a', 'b', 'c']) fleet.set(name, refuse('unreachable'));
    fleet.set('c', refuse('unauthorized'));
    fleet.servers.add({ a: required, b: http, c: required, fine: required }, 'dynamic');
    await expect(fleet.servers.ready()).rejects.toMatchObject({
      name: 'NotReadyError',
      code: 'unreachable',
      server: 'a',
      message:
        'MCP server "a": no; retrying in 1 s; MCP server "c": no; if the server is still not connected afterwards, reconnect it',
      missing: [{ server: 'a' }, { server: 'c', code: 'unauthorized' }],
    });
  });

  test('waits for the named servers only, and connects idle ones', async () => {
    const fleet = new Fleet();
    fleet.set('hung', hang);
    fleet.set('needed', refuse('unreachable'));
    fleet.servers.add({ hung: http, later: onDemand, needed: required }, 'dynamic');
    await fleet.servers.ready({ servers: ['later'] });
    expect(fleet.state('later')?.state).toBe('connected');
    await expect(fleet.servers.ready({ servers: ['later', 'unknown'] })).rejects.toMatchObject({
      code: 'unknown-server',
      message: 'MCP server "unknown": unknown server; check the name',
    });
    await fleet.servers.toggle('later', 'disabled');
    await expect(fleet.servers.ready({ servers: ['later'] })).rejects.toMatchObject({ code: 'disabled' });
  });

  test('rejects at the deadline with the named servers that are not connected', async () => {
    const fleet = new Fleet();
    fleet.set('hung', hang);
    fleet.servers.add({ hung: http }, 'dynamic');
    await fleet.servers.ready({ deadline: 5 });
    await expect(fleet.servers.ready({ servers: ['hung'], deadline: 5 })).rejects.toMatchObject({
      code: 'timeout',
      message: 'MCP server "hung": the server is still connecting',
    });
  });

  test('rejects when the signal aborts', async () => {
    const fleet = new Fleet();
    fleet.set('hung', hang);
    fleet.servers.add({ hung: http }, 'dynamic');
    const stop = new AbortController();
    const ready = expect(fleet.servers.ready({ signal: stop.signal })).rejects.toThrow('enough');
    stop.abort(new Error('enough'));
    await ready;
  });
});

test('the progress of the start reports settled and pending servers', async () => {
  const told: StartProgress[] = [];
  const fleet = new Fleet({ onProgress: (progress) => told.push(progress) });
  const door = gate();
  fleet.set('slow', () => door.pass());
  fleet.set('bad', refuse('unreachable'));
  fleet.servers.add({ good: http, bad: http, slow: http, later: onDemand }, 'dynamic');
  await fleet.clock.advance(1_000);
  door.open();
  await fleet.clock.advance(1_000);
  expect(told).toEqual([
    { settled: 0, total: 3, waitingFor: ['good', 'bad', 'slow'] },
    { settled: 1, total: 3, waitingFor: ['good', 'slow'] },
    { settled: 2, total: 3, waitingFor: ['slow'] },
    { settled: 3, total: 3, waitingFor: [] },
  ]);
});
