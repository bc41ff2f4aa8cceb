import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import { RETRY } from '../../../src/mcp/servers/retry-policy.ts';
import {
  type ConnectFailure,
  type Handshake,
  initialState,
  isBusy,
  isUnauthorized,
  next,
  type ServerEvent,
  type ServerState,
  type TransitionContext,
  toConnectFailure,
} from '../../../src/mcp/servers/server-state.ts';
import { unavailableReason } from '../../../src/mcp/servers/server-status.ts';

describe('state', () => {
  const at = (now: number, luck = 0.5): TransitionContext => ({ now, random: luck, retry: RETRY });
  const handshake: Handshake = { era: 'legacy', protocolVersion: '2025-11-25', tools: 3 };
  const later: ConnectFailure = { code: 'unreachable', message: 'no', detail: 'no', retry: 'later' };
  const locked: ConnectFailure = {
    code: 'unauthorized',
    message: 'who are you',
    detail: 'who are you',
    retry: 'never',
  };
  const broken: ConnectFailure = {
    code: 'bad-config',
    message: 'what is this',
    detail: 'what is this',
    retry: 'never',
  };

  const EVENTS = {
    requested: { kind: 'requested' },
    'reconnect-requested': { kind: 'reconnect-requested' },
    'connect-started': { kind: 'connect-started' },
    'connect-succeeded': { kind: 'connect-succeeded', handshake },
    'connect-failed': { kind: 'connect-failed', failure: later, stderr: ['x'] },
    'connect-failed for good': { kind: 'connect-failed', failure: broken, stderr: [] },
    'connect-failed 401': { kind: 'connect-failed', failure: locked, stderr: [] },
    lost: { kind: 'connection-lost', failure: later, stderr: ['y'] },
    'lost 401': { kind: 'connection-lost', failure: locked, stderr: [] },
    listed: { kind: 'listed', tools: 4 },
    'retry-due': { kind: 'retry-due' },
    'retry-requested': { kind: 'retry-requested' },
    postponed: { kind: 'postponed', until: 1_000_000 },
    disabled: { kind: 'disabled' },
    enabled: { kind: 'enabled' },
  } as const satisfies Record<string, ServerEvent>;

  type Happened = keyof typeof EVENTS;

  function stateAfter(...events: readonly Happened[]): ServerState {
    return events.reduce((state, it, n) => next(state, EVENTS[it], at(n + 1)), initialState(0));
  }

  /** A state of each kind. */
  const STATES = {
    idle: stateAfter(),
    queued: stateAfter('requested'),
    connecting: stateAfter('requested', 'connect-started'),
    connected: stateAfter('requested', 'connect-started', 'connect-succeeded'),
    'needs-auth': stateAfter('requested', 'connect-started', 'connect-failed 401'),
    retrying: stateAfter('requested', 'connect-started', 'connect-failed'),
    lost: stateAfter('requested', 'connect-started', 'connect-succeeded', 'lost'),
    failed: stateAfter('requested', 'connect-started', 'connect-failed for good'),
    disabled: stateAfter('disabled'),
  } as const;

  const nameOf = (state: ServerState): string => {
    if (state.kind === 'pending') return state.awaits === 'request' ? 'idle' : 'queued';
    if (state.kind === 'failed' && state.nextRetryAt !== undefined)
      return state.past.hasConnected ? 'lost' : 'retrying';
    return state.kind;
  };

  /** The state after each event in each state; a pair that is not listed changes nothing. */
  const TABLE: Record<keyof typeof STATES, Partial<Record<Happened, string>>> = {
    idle: { requested: 'queued', 'reconnect-requested': 'queued', disabled: 'disabled' },
    queued: { 'reconnect-requested': 'queued', 'connect-started': 'connecting', disabled: 'disabled' },
    connecting: {
      'reconnect-requested': 'queued',
      'connect-succeeded': 'connected',
      'connect-failed': 'retrying',
      'connect-failed for good': 'failed',
      'connect-failed 401': 'needs-auth',
      disabled: 'disabled',
    },
    connected: {
      'reconnect-requested': 'queued',
      lost: 'lost',
      'lost 401': 'needs-auth',
      listed: 'connected',
      disabled: 'disabled',
    },
    'needs-auth': { 'reconnect-requested': 'queued', disabled: 'disabled' },
    retrying: {
      'reconnect-requested': 'queued',
      'retry-due': 'queued',
      'retry-requested': 'queued',
      postponed: 'retrying',
      disabled: 'disabled',
    },
    lost: {
      requested: 'queued',
      'reconnect-requested': 'queued',
      'retry-due': 'queued',
      'retry-requested': 'queued',
      postponed: 'lost',
      disabled: 'disabled',
    },
    failed: { 'reconnect-requested': 'queued', disabled: 'disabled' },
    disabled: { 'reconnect-requested': 'queued', enabled: 'queued' },
  };

  describe.each(Object.entries(STATES))('%s', (name, state) => {
    test('is what it is called', () => {
      expect(nameOf(state)).toBe(name);
    });

    test.each(Object.entries(EVENTS))('and %s', (happened, event) => {
      const expected = TABLE[name as keyof typeof STATES][happened as Happened];
      const became = next(state, event, at(100));
      if (expected === undefined) expect(became).toBe(state);
      else expect([became === state, nameOf(became)]).toEqual([false, expected]);
    });
  });

  test('calls wait for a pause that the server asked for, not for a longer one of the backoff', () => {
    const failed = {
      ...(STATES.retrying as Extract<ServerState, { kind: 'failed' }>),
      since: 0,
      cause: { ...later, retryAfterMs: 2_000 },
    };
    expect(unavailableReason({ ...failed, nextRetryAt: 2_000 }, 500)).toMatchObject({ retryAfterMs: 1_500 });
    expect(unavailableReason({ ...failed, nextRetryAt: 3_500 }, 500)).not.toHaveProperty('retryAfterMs');
  });

  test('a state keeps the facts of the previous one', () => {
    const failed = stateAfter('requested', 'connect-started', 'connect-succeeded', 'lost');
    expect(failed).toMatchObject({ era: 'legacy', stderr: ['y'], cause: later, attempt: 0, since: 4 });
    const again = [EVENTS['retry-due'], EVENTS['connect-started']].reduce(
      (it, event) => next(it, event, at(9)),
      failed,
    );
    expect(again).toMatchObject({ kind: 'connecting', era: 'legacy', cause: later, attempt: 1, since: 9 });
    const back = next(again, EVENTS['connect-succeeded'], at(10));
    expect(back).toMatchObject({ kind: 'connected', attempt: 0, stderr: [], handshake });
    expect(back).not.toHaveProperty('cause');
  });

  test('calls reconnect the first loss at once, and later wait for the backoff up to its maximum', () => {
    const redialled = [
      EVENTS.requested,
      EVENTS['connect-started'],
      EVENTS['connect-succeeded'],
      EVENTS.lost,
    ].reduce((it, event) => next(it, event, at(200)), STATES.lost);
    expect(redialled).toMatchObject({ kind: 'failed', past: { failures: 2 } });
    expect(redialled).toMatchObject({ nextRetryAt: 700 });
    expect(next(redialled, EVENTS.requested, at(699))).toBe(redialled);
    expect(next(redialled, EVENTS.requested, at(700))).toMatchObject({ kind: 'pending' });
    const seldom = { ...redialled, nextRetryAt: 10 * RETRY.ceilingMs };
    expect(next(seldom, EVENTS.requested, at(200 + RETRY.ceilingMs - 1))).toBe(seldom);
    expect(next(seldom, EVENTS.requested, at(200 + RETRY.ceilingMs))).toMatchObject({ kind: 'pending' });
  });

  test('Retry-After is a lower bound for the delay', () => {
    const patient: ConnectFailure = { ...later, retryAfterMs: 7_000 };
    const refused = next(
      STATES.connecting,
      { kind: 'connect-failed', failure: patient, stderr: [] },
      at(100),
    );
    expect(refused).toMatchObject({ kind: 'failed', nextRetryAt: 7_100 });
    // A Retry-After also holds if the network is available again.
    expect(next(refused, EVENTS['retry-requested'], at(7_099))).toBe(refused);
    expect(next(refused, EVENTS['retry-requested'], at(7_100))).toMatchObject({ kind: 'pending' });
  });

  test('a lost session is replaced at once, the second time with a delay', () => {
    const gone: ServerEvent = {
      kind: 'connection-lost',
      failure: { code: 'session-lost', message: 'who?', detail: 'who?', retry: 'at-once' },
      stderr: [],
    };
    const once = next(STATES.connected, gone, at(100));
    expect(once).toMatchObject({ kind: 'failed', nextRetryAt: 100 });
    const back = [EVENTS['retry-due'], EVENTS['connect-started'], EVENTS['connect-succeeded']].reduce(
      (it, e) => next(it, e, at(100)),
      once,
    );
    expect(next(back, gone, at(200))).toMatchObject({ kind: 'failed', nextRetryAt: 200 + 500 });
  });

  /** Connects until the server is given up; returns the number of attempts. */
  function dials(state: ServerState, failure: ConnectFailure, moment: TransitionContext, most = 50): number {
    let it = state;
    for (let count = 0; count < most; count++) {
      const refused = next(
        next(it, EVENTS['connect-started'], moment),
        { kind: 'connect-failed', failure, stderr: [] },
        moment,
      );
      it = next(refused, EVENTS['retry-due'], moment);
      if (it === refused) return count + 1;
    }
    return most;
  }

  test.each([
    ['a process that never came up, without end', 'seldom', STATES.queued, {}, 50],
    [
      'one that did come up once, without end',
      'seldom',
      stateAfter('requested', 'connect-started', 'connect-succeeded', 'reconnect-requested'),
      {},
      50,
    ],
    ['a server that has never connected, without a limit', 'later', STATES.queued, {}, 50],
    ['as often as the settings say', 'later', STATES.queued, { attempts: 2 }, 3],
    ['what cannot help, not at all', 'never', STATES.queued, {}, 1],
    ['a server in the program, not at all', 'later', STATES.queued, { attempts: 0 }, 1],
  ] as const)('retried: %s', (_, retry, state, policy, expected) => {
    const moment = { ...at(1), retry: { ...RETRY, ...policy } };
    expect(dials(state, { ...later, retry }, moment)).toBe(expected);
  });

  test('a flapping server is retried at growing intervals, except on an explicit reconnect', () => {
    let [state, now] = [STATES.connected as ServerState, 1_000];
    const pauses: number[] = [];
    for (let life = 0; life < 12; life++) {
      now += 11_000;
      state = next(state, EVENTS.lost, at(now, 0));
      pauses.push((state.kind === 'failed' ? (state.nextRetryAt ?? 0) : 0) - now);
      if (life < 11)
        for (const event of [EVENTS['retry-due'], EVENTS['connect-started'], EVENTS['connect-succeeded']])
          state = next(state, event, at(now));
    }
    expect(pauses).toEqual([
      125, 125, 125, 125, 8_000, 16_000, 32_000, 64_000, 128_000, 150_000, 150_000, 150_000,
    ]);
    expect(next(state, EVENTS.requested, at(now))).toBe(state);
    expect(next(state, EVENTS['retry-requested'], at(now))).toBe(state);
    expect(next(state, EVENTS['reconnect-requested'], at(now))).toMatchObject({
      kind: 'pending',
      awaits: 'slot',
      attempt: 0,
    });
  });

  test('every sequence of events leads to a valid state', () => {
    const events = fc.array(
      fc.record({
        event: fc.constantFrom(...Object.values(EVENTS)),
        passed: fc.integer({ min: 0, max: 100_000 }),
        luck: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(events, (happened) => {
        let [state, now] = [initialState(0), 0];
        for (const { event, passed, luck } of happened) {
          now += passed;
          const before = state;
          state = next(before, event, at(now, luck));
          if (state !== before) expectSense(before, event, state, now);
        }
      }),
    );
  });

  function expectSense(before: ServerState, event: ServerEvent, state: ServerState, now: number): void {
    // These events change a state without entering another one.
    if (event.kind !== 'listed' && event.kind !== 'postponed') expect(state.since).toBe(now);
    expect(state.attempt).toBeGreaterThanOrEqual(0);
    if ('nextRetryAt' in state) {
      expect(state.kind).toBe('failed');
      expect(state.nextRetryAt).toBeGreaterThanOrEqual(now);
    }
    // A connection is started from the queue only; a disabled server is started by an explicit request only.
    if (state.kind === 'connecting') expect(before).toMatchObject({ kind: 'pending', awaits: 'slot' });
    if (before.kind === 'disabled') expect(['reconnect-requested', 'enabled']).toContain(event.kind);
    if (before.kind === 'needs-auth') expect(['reconnect-requested', 'disabled']).toContain(event.kind);
    if (state.kind === 'connected') {
      expect(state).toMatchObject({ attempt: 0, era: state.handshake.era, past: { hasConnected: true } });
      expect(state).not.toHaveProperty('cause');
    }
    if (state.kind === 'failed' || state.kind === 'needs-auth') expect(state.cause.message).not.toBe('');
    if (isBusy(state) && state.kind === 'connecting') expect(state.attempt).toBe(before.attempt + 1);
  }
});

describe('failure', () => {
  const code = (it: string) => Object.assign(new Error('x'), { code: it });
  const status = (it: number) => Object.assign(new Error('x'), { status: it });

  test.each([
    ['an entry that is wrong', new HostError('bad-config', 's', 'x'), 'never'],
    [
      'a command that is not there',
      new HostError('spawn-failed', 's', 'x', { cause: code('ENOENT') }),
      'never',
    ],
    [
      'a file that is no program',
      new HostError('spawn-failed', 's', 'x', { cause: code('EACCES') }),
      'never',
    ],
    ['a process that ended', new HostError('spawn-failed', 's', 'x'), 'seldom'],
    ['a lost session', new HostError('session-lost', 's', 'x'), 'at-once'],
    ['a refusal of who we are', new HostError('unauthorized', 's', 'x'), 'never'],
    ['an unreachable server', new HostError('unreachable', 's', 'x', { retryAfterMs: 5 }), 'later'],
    ['silence', new HostError('timeout', 's', 'x'), 'later'],
    ['the unknown', 'what', 'later'],
  ])('%s', (_, error, retry) => {
    const failure = toConnectFailure(error);
    expect(failure.retry).toBe(retry);
    expect(failure.retryAfterMs).toBe(error instanceof HostError ? error.retryAfterMs : undefined);
  });

  test.each([
    [new HostError('unauthorized', 's', 'x', { cause: status(401) }), true],
    [new HostError('unauthorized', 's', 'x'), true],
    [new HostError('unauthorized', 's', 'x', { cause: status(403) }), false],
    [new HostError('unreachable', 's', 'x'), false],
    [new Error('401'), false],
  ])('a 403 is not an authorization failure of the server: %s', (failure, expected) => {
    expect(isUnauthorized(failure)).toBe(expected);
  });
});
