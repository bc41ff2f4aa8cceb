import { describe, expect, test } from 'vitest';
import { Secrets } from '../../../src/mcp/connection/secrets.ts';
import { ThrottledWarnings, UniqueWarnings } from '../../../src/mcp/connection/warnings.ts';

describe('noise', () => {
  function told(noise: Iterable<string>): string[] {
    const heard: string[] = [];
    const teller = new ThrottledWarnings((what) => heard.push(what));
    for (const what of noise) teller.report(what);
    return heard;
  }

  test('it is shortened, and without secrets', () => {
    expect(told(['x'.repeat(1000), 'api_key="abc"'])).toEqual([
      `${'x'.repeat(200)}…`,
      'api_key="[redacted]"',
    ]);
  });

  test('a secret at the truncation point is masked too', () => {
    expect(told([`${'x'.repeat(195)} Bearer abcdefghijklmnop`])[0]).not.toContain('abc');
  });

  test('nor is the beginning of a long one', () => {
    const secret = 'k3y.'.repeat(2000);
    const heard: string[] = [];
    new ThrottledWarnings((what) => heard.push(what), new Secrets([], [secret])).report(
      `token ${secret} and more`,
    );
    expect(heard).toEqual(['token [redacted] and more']);
  });

  test('a listener may throw', () => {
    const teller = new ThrottledWarnings(() => {
      throw new Error('listener');
    });
    expect(() => teller.report('x')).not.toThrow();
  });

  test('a flood is reported at its beginning, and each time it has doubled', () => {
    const heard = told(Array.from({ length: 1_000_000 }, () => 'x'));
    expect(heard.slice(0, 12)).toEqual([
      ...Array.from({ length: 10 }, () => 'x'),
      'x (20 so far)',
      'x (40 so far)',
    ]);
    expect(heard).toHaveLength(26);
  });
});

describe('warnings', () => {
  test('each warning is reported once, up to a limit', () => {
    const told: string[] = [];
    const warnings = new UniqueWarnings((message) => void told.push(message));
    for (const message of ['a', 'b', 'a']) warnings.report(message);
    expect(told).toEqual(['a', 'b']);
    for (let at = 0; at < 1_000; at++) warnings.report(`fault ${at}`);
    expect(told).toHaveLength(201);
    expect(told.at(-1)).toBe('its lists have more than 200 problems; further ones are not reported');
  });
});
