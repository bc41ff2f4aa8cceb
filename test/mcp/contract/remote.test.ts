import { describe, expect, test } from 'vitest';
import { WORD } from './fixtures/listen.ts';
import { able } from './support/cannot.ts';
import { hostOf, journal, KEY, pair, stateOf, textOf } from './support/drive.ts';

describe.concurrent.each(able('headers'))('a server over $name', (setUp) => {
  test('gets the headers of its entry', async () => {
    await using both = await pair(setUp, {}, { headers: { 'X-Contract': 'signed' } });
    expect((await journal(both.host)).header).toBe('signed');
  });

  test('gets the headers that a command printed', async () => {
    const print = `"${process.execPath}" -p "JSON.stringify({'x-contract': 'printed'})"`;
    await using both = await pair(setUp, {}, { headersHelper: print });
    expect((await journal(both.host)).header).toBe('printed');
  });
});

describe.concurrent.each(able('needs authorization at the dial'))('a locked server over $name', (setUp) => {
  test('is said to need authorization and is not dialled over and over', async () => {
    await using far = await setUp.start();
    far.lock();
    await using host = hostOf(far, { retry: { firstMs: 10, ceilingMs: 20 } });
    await stateOf(host, (state) => state === 'needs-auth');
    const status = host.status()[KEY];
    expect(status).toMatchObject({ state: 'needs-auth', attempt: 1, cause: { code: 'unauthorized' } });
    expect(status?.cause?.message).toContain(`"${KEY}"`);
    expect(status?.nextRetryAt).toBeUndefined();
    await expect(host.callTool(KEY, 'echo', { text: 'x' })).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('lets in who knows the word', async () => {
    await using far = await setUp.start();
    far.lock();
    await using host = hostOf(far, {}, { headers: { Authorization: WORD } });
    await host.ready({ servers: [KEY] });
    expect(textOf(await host.callTool(KEY, 'echo', { text: 'in' }))).toBe('in');
  });
});

describe.concurrent.each(able('needs authorization at a call'))(
  'a server over $name that is locked later',
  (setUp) => {
    test('is said to need authorization from the call on that found it so (R182)', async () => {
      await using both = await pair(setUp);
      const { host, far } = both;
      const changed = stateOf(host, (state) => state === 'needs-auth');
      far.lock();
      await expect(host.callTool(KEY, 'echo', { text: 'x' })).rejects.toMatchObject({
        code: 'unauthorized',
        server: KEY,
      });
      await changed;
      expect(host.status()[KEY]).toMatchObject({ state: 'needs-auth', cause: { code: 'unauthorized' } });
    });
  },
);
