import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configureSteps, stepsText } from '../../../src/mcp/servers/servers-options.ts';
import { Fleet, http, stdio } from './support/fleet.ts';

const other = { ...http, headers: { n: '2' } };

describe('a new configuration', () => {
  test('adds, removes and restarts what differs, and leaves the rest alone', async () => {
    await using fleet = new Fleet();
    fleet.servers.configure({ stays: http, goes: http, changes: http });
    await fleet.servers.settled();
    const before = fleet.servers.connection('stays');
    const steps = fleet.servers.configure({ changes: other, stays: { ...http }, comes: stdio });
    expect(steps).toEqual({
      added: ['comes'],
      removed: ['goes'],
      restarted: ['changes'],
      untouched: ['stays'],
      kept: [],
    });
    await fleet.servers.settled();
    expect([...fleet.servers.all.keys()].toSorted()).toEqual(['changes', 'comes', 'stays']);
    expect(fleet.servers.connection('stays')).toBe(before);
    expect(fleet.servers.all.get('changes')?.entry).toEqual(other);
  });

  test('keeps servers of the program, and restores a configured server when the program removes its own', async () => {
    await using fleet = new Fleet();
    fleet.servers.configure({ a: http });
    await fleet.servers.replace({ a: other });
    expect(fleet.servers.all.get('a')?.origin).toBe('dynamic');
    expect(fleet.servers.configure({ a: stdio })).toMatchObject({ kept: ['a'], removed: [], restarted: [] });
    expect(fleet.servers.all.get('a')?.entry).toEqual(other);
    await fleet.servers.replace({});
    expect(fleet.servers.all.get('a')).toMatchObject({ entry: stdio, origin: 'config' });
  });

  test('keeps a disabled server disabled while its entry is unchanged', async () => {
    await using fleet = new Fleet();
    fleet.servers.configure({ a: http });
    await fleet.servers.toggle('a', 'disabled');
    fleet.servers.configure({ a: http, b: http });
    await fleet.servers.settled();
    expect(fleet.state('a')?.state).toBe('disabled');
    expect(fleet.state('b')?.state).toBe('connected');
  });
});

test('each name is in exactly one list', () => {
  const entry = fc.constantFrom(http, other, stdio);
  const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
  const origin = fc.constantFrom('config' as const, 'sdk' as const, 'dynamic' as const);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.record({ entry, origin }))),
      fc.array(fc.tuple(name, entry)),
      (held, wanted) => {
        const slots = new Map(held);
        const steps = configureSteps(slots, Object.fromEntries(wanted));
        const listed = Object.values(steps).flat();
        const configured = [...slots].filter(([, it]) => it.origin === 'config').map(([key]) => key);
        expect(listed.toSorted()).toEqual(
          [...new Set([...configured, ...wanted.map(([key]) => key)])].toSorted(),
        );
      },
    ),
  );
});

test.each([
  [
    { added: ['a', 'b'], removed: ['c'], restarted: ['d'] },
    'configuration: added a, b; removed c; restarted d',
  ],
  [{ restarted: ['d'] }, 'configuration: restarted d'],
  [{ untouched: ['x'], kept: ['y'] }, undefined],
])('%j is summarized as %j', (steps, text) => {
  const none = { added: [], removed: [], restarted: [], untouched: [], kept: [] };
  expect(stepsText({ ...none, ...steps })).toBe(text);
});
