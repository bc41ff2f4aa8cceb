import { expect, test } from 'vitest';
import { AuthRequestError } from '../../../src/mcp/auth/auth-fetch.ts';
import { type Account, AuthError, type StoredTokens } from '../../../src/mcp/auth/auth-types.ts';
import { memoryCredentialStore } from '../../../src/mcp/auth/credential-store.ts';
import { isExpired, type Obtain, refreshDueAt, TokenSource } from '../../../src/mcp/auth/token-refresh.ts';
import { FakeClock } from '../servers/support/fake-clock.ts';

const MINUTE = 60_000;

const tokensFor = (name: string, obtainedAt: number, lifetimeMs: number): StoredTokens => ({
  accessToken: name,
  refreshToken: `refresh-${name}`,
  tokenType: 'Bearer',
  obtainedAt,
  expiresAt: obtainedAt + lifetimeMs,
});

const accountWith = (tokens?: StoredTokens): Account => ({
  server: 'https://mcp.example/',
  issuer: 'https://idp.example',
  authorizationServer: { url: 'https://idp.example', issuer: 'https://idp.example' },
  client: { client_id: 'c', origin: 'registered' },
  ...(tokens && { tokens }),
});

test.each([
  ['an hour', 60 * MINUTE, 0, 55 * MINUTE],
  ['an hour, with the most jitter', 60 * MINUTE, 1, 54.5 * MINUTE],
  ['25 minutes', 25 * MINUTE, 0, 20 * MINUTE],
  ['10 minutes', 10 * MINUTE, 0, 8 * MINUTE],
  ['2 seconds', 2000, 0, 1600],
  ['2 seconds, with the most jitter', 2000, 1, 1560],
])('a token that lives %s is renewed in time', (_, lifetimeMs, random, dueAt) => {
  const tokens = tokensFor('a', 1000, lifetimeMs);
  expect(refreshDueAt(tokens, random)).toBeCloseTo(1000 + dueAt);
  expect(isExpired(tokens, 1000 + dueAt)).toBe(false);
  expect(isExpired(tokens, 1000 + lifetimeMs)).toBe(true);
});

test('a token without a lifetime is not renewed ahead of time', () => {
  const { expiresAt: _, ...tokens } = tokensFor('a', 0, 1);
  expect(refreshDueAt(tokens, 0)).toBeUndefined();
  expect(isExpired(tokens, Number.MAX_SAFE_INTEGER)).toBe(false);
});

/** A token source with the token `a`, whose renewals return `b1`, `b2` and so on. */
async function sourceOf(lifetimeMs: number, obtain?: Obtain) {
  const clock = new FakeClock();
  const store = memoryCredentialStore();
  const notices: string[] = [];
  let renewals = 0;
  const next: Obtain = async (stored) =>
    stored && { ...stored, tokens: tokensFor(`b${++renewals}`, clock.now(), lifetimeMs) };
  await store.write(accountWith(tokensFor('a', clock.now(), lifetimeMs)));
  const source = new TokenSource('docs', 'https://mcp.example/', {
    store,
    clock,
    obtain: obtain ?? next,
    random: () => 0,
    onChange: () => {},
    onNotice: (message) => notices.push(message),
  });
  await source.ready();
  const current = () => source.account?.tokens?.accessToken;
  return { clock, store, source, current, notices, next };
}

test('a connected server has a new token before the old one expires, and a closed one is left alone (R179)', async () => {
  const { clock, store, source, current } = await sourceOf(60 * MINUTE);
  const kept = source.keepFresh();
  await clock.advance(54 * MINUTE);
  expect(current()).toBe('a');
  await clock.advance(2 * MINUTE);
  expect(current()).toBe('b1');
  expect((await store.read('https://mcp.example/'))?.tokens?.accessToken).toBe('b1');
  await clock.advance(60 * MINUTE);
  expect(current()).toBe('b2');
  kept[Symbol.dispose]();
  await clock.advance(120 * MINUTE);
  expect(current()).toBe('b2');
});

test('a request renews an expired token first, and one that is due in the background', async () => {
  const { clock, source, current } = await sourceOf(60 * MINUTE);
  await clock.advance(56 * MINUTE);
  expect(source.isReady).toBe(true);
  expect(current()).toBe('a');
  await clock.advance(0);
  expect(current()).toBe('b1');
  await clock.advance(120 * MINUTE);
  expect(source.isReady).toBe(false);
  await source.ready();
  expect(current()).toBe('b2');
});

test('concurrent renewals share one, and take what another process stored', async () => {
  let obtained = 0;
  const { store, source, current, next } = await sourceOf(MINUTE, (...given) => {
    obtained++;
    return next(...given);
  });
  await Promise.all(Array.from({ length: 50 }, () => source.renew('a')));
  expect([obtained, current()]).toEqual([1, 'b1']);
  await store.write(accountWith(tokensFor('theirs', 0, Number.MAX_SAFE_INTEGER)));
  await source.renew('b1');
  expect([obtained, current()]).toEqual([1, 'theirs']);
});

test('requests are repeated while the authorization server cannot be reached', async () => {
  let failures = 0;
  const { clock, source, current, next } = await sourceOf(60 * MINUTE, async (...given) => {
    if (failures-- > 0) throw new AuthRequestError('connect', 'down');
    return next(...given);
  });
  failures = 2;
  const renewed = source.renew('a');
  await clock.advance(5000);
  await renewed;
  expect(current()).toBe('b1');
  failures = 3;
  const failed = expect(source.renew('b1')).rejects.toMatchObject({ code: 'unreachable' });
  await clock.advance(5000);
  await failed;
  expect(current()).toBe('b1');
  // In the background, a failed renewal is tried again later.
  failures = 4;
  using _ = source.keepFresh();
  await clock.advance(60 * MINUTE);
  expect(current()).toBe('b2');
});

test.each([
  ['a request without a response', new AuthRequestError('network', 'broken')],
  ['a response that reports a failure', Object.assign(new Error('down'), { code: 'server_error' })],
])('after %s the refresh token is sent again only by a later renewal', async (_, failure) => {
  let attempts = 0;
  const { clock, source, current, next } = await sourceOf(60 * MINUTE, async (...given) => {
    if (++attempts === 1) throw failure;
    return next(...given);
  });
  using _kept = source.keepFresh();
  const failed = expect(source.renew('a')).rejects.toMatchObject({ authCode: 'unreachable' });
  await clock.advance(4000);
  await failed;
  expect([attempts, current()]).toEqual([1, 'a']);
  await clock.advance(55 * MINUTE);
  expect([attempts, current()]).toEqual([2, 'b1']);
});

test('a request without a refresh token is repeated after a failure that the server reports', async () => {
  let failures = 2;
  const { clock, store, source, next } = await sourceOf(MINUTE, async (...given) => {
    if (failures-- > 0) throw Object.assign(new Error('down'), { code: 'server_error' });
    return next(...given);
  });
  const { refreshToken: _, ...tokens } = tokensFor('a', 0, MINUTE);
  await store.write(accountWith(tokens));
  const renewed = source.renew('a');
  await clock.advance(5000);
  await renewed;
  expect(failures).toBe(-1);
});

test('a renewal that fails for good is not repeated in the background', async () => {
  let attempts = 0;
  const { clock, source } = await sourceOf(60 * MINUTE, async () => {
    attempts++;
    throw new AuthError('invalid-response', 'docs', 'nonsense');
  });
  using _ = source.keepFresh();
  await clock.advance(24 * 60 * MINUTE);
  expect(attempts).toBe(1);
});

test('an account without a refresh token is used until the server refuses it', async () => {
  let attempts = 0;
  const { clock, source, current } = await sourceOf(60 * MINUTE, async () => {
    attempts++;
    return undefined;
  });
  using _ = source.keepFresh();
  await clock.advance(24 * 60 * MINUTE);
  expect([attempts, current(), source.isReady]).toEqual([1, 'a', true]);
});

test('a token that cannot be stored is used, and the person is told once', async () => {
  const { store, source, current, notices } = await sourceOf(MINUTE);
  store.write = async () => {
    throw new Error('disk full');
  };
  await source.renew('a');
  expect(current()).toBe('b1');
  expect(notices).toHaveLength(1);
});

test('a sign-out during a renewal stays a sign-out', async () => {
  const { store, source, next } = await sourceOf(MINUTE, async (...given) => {
    await store.remove('https://mcp.example/');
    return next(...given);
  });
  await source.renew('a');
  expect(source.account).toBeUndefined();
  expect(await store.list()).toEqual([]);
});
