import { describe, expect, test } from 'vitest';
import { ThrottledWarnings, UniqueWarnings } from '../../../src/mcp/connection/repeated-warnings.ts';
import { SecretMask } from '../../../src/mcp/connection/secret-mask.ts';

describe('unique warnings', () => {
  test('each warning is reported once, up to a limit', () => {
    const reported: string[] = [];
    const warnings = new UniqueWarnings((message) => void reported.push(message));
    for (const message of ['a', 'b', 'a']) warnings.report(message);
    expect(reported).toEqual(['a', 'b']);
    for (let at = 0; at < 1_000; at++) warnings.report(`fault ${at}`);
    expect(reported).toHaveLength(201);
    expect(reported.at(-1)).toBe('its lists have more than 200 problems; further ones are not reported');
  });
});

describe('throttled warnings', () => {
  function reported(warnings: Iterable<string>): string[] {
    const all: string[] = [];
    const throttled = new ThrottledWarnings((what) => all.push(what));
    for (const what of warnings) throttled.report(what);
    return all;
  }

  test('a warning is truncated, with secrets masked', () => {
    expect(reported(['x'.repeat(1000), 'api_key="abc"'])).toEqual([
      `${'x'.repeat(200)}…`,
      'api_key="[redacted]"',
    ]);
  });

  test('a secret at the truncation point is masked too', () => {
    expect(reported([`${'x'.repeat(195)} Bearer abcdefghijklmnop`])[0]).not.toContain('abc');
  });

  test('a long secret is masked from its beginning', () => {
    const secret = 'k3y.'.repeat(2000);
    const all: string[] = [];
    new ThrottledWarnings((what) => all.push(what), new SecretMask([], [secret])).report(
      `token ${secret} and more`,
    );
    expect(all).toEqual(['token [redacted] and more']);
  });

  test('an error of the listener is ignored', () => {
    const throttled = new ThrottledWarnings(() => {
      throw new Error('listener');
    });
    expect(() => throttled.report('x')).not.toThrow();
  });

  test('many warnings: the first ten are reported, then each time their number has doubled', () => {
    const all = reported(Array.from({ length: 1_000_000 }, () => 'x'));
    expect(all.slice(0, 12)).toEqual([
      ...Array.from({ length: 10 }, () => 'x'),
      'x (20 so far)',
      'x (40 so far)',
    ]);
    expect(all).toHaveLength(26);
  });
});
