import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
  parseHelperOutput,
  RequestHeaders,
  runHeadersHelper,
} from '../../../../src/mcp/transports/http/request-headers.ts';
import { dial } from '../../../../src/mcp/transports/transports.ts';

import { lifeline, startHost } from '../../../support/lifeline.ts';
import { testWorld } from '../../support/servers.ts';

const run = (code: string, limits?: Parameters<typeof runHeadersHelper>[3]) =>
  runHeadersHelper(
    'srv',
    { url: 'http://h/mcp', headersHelper: `"${process.execPath}" -e "${code}"` },
    testWorld(),
    limits,
  );

describe('a headersHelper', () => {
  test('knows its server and gets nothing else of the environment', async () => {
    const said = await run(
      'const {TOOLPLANE_SERVER:s,TOOLPLANE_URL:u,SECRET_TOKEN:t}=process.env;console.log(JSON.stringify({s,u,t:String(t)}))',
    );
    expect(said).toEqual({ s: 'srv', u: 'http://h/mcp', t: 'undefined' });
  });

  test.each([
    [
      'process.exit(3)',
      'MCP server "srv": its "headersHelper" exited with code 3; run it by hand to see why',
    ],
    [
      'console.log(5)',
      'MCP server "srv": its "headersHelper" must print one JSON object of headers, but printed a JSON value of another type',
    ],
    [
      "console.log('x'.repeat(99999))",
      'MCP server "srv": its "headersHelper" printed more than 65536 bytes; it must print only the headers',
    ],
  ])('%s is one clear fault', async (code, message) => {
    await expect(run(code)).rejects.toMatchObject({ name: 'HostError', code: 'bad-config', message });
  });

  test('that hangs is ended with all it started', async () => {
    const fault = /did not finish within 300 ms/;
    await expect(run('setInterval(()=>{},1e6)', { limitMs: 300 })).rejects.toThrow(fault);
  });

  test('that is called off is gone with all it started when its caller hears of it', async () => {
    const dir = await mkdtemp(`${tmpdir()}/helper-`);
    const pids = async () =>
      (await readFile(`${dir}/pids`, 'utf8').catch(() => '')).match(/\d+/g)?.map(Number);
    const life = new AbortController();
    const helper = { url: 'http://h/mcp', headersHelper: `sleep 60 & echo $$ $! > ${dir}/pids; wait` };
    const asked = runHeadersHelper('srv', helper, testWorld(), { signal: life.signal });
    await expect.poll(pids).toHaveLength(2);
    life.abort();
    await expect(asked).rejects.toMatchObject({
      name: 'HostError',
      message: expect.stringMatching(/was stopped/),
    });
    expect((await pids())?.filter(isRunning)).toEqual([]);
  });

  test('leaves nothing behind when it is done either', async () => {
    const helper = {
      url: 'http://h/mcp',
      headersHelper: 'sleep 60 >/dev/null & echo "{\\"pid\\":\\"$!\\"}"',
    };
    const { pid } = await runHeadersHelper('srv', helper, testWorld());
    expect(isRunning(Number(pid))).toBe(false);
  });

  test('does not outlive a host that is killed', async () => {
    const { hold, started, ended } = lifeline();
    const host = startHost(`
      const { runHeadersHelper } = await import('#mcp/transports/http/request-headers.ts');
      const world = { env: process.env, connectTimeoutMs: 1000, clientInfo: { name: 'test', version: '1' } };
      const asked = runHeadersHelper('srv', { url: 'http://h/', headersHelper: ${JSON.stringify(`${hold} exec sleep 60`)} }, world);
      console.log('ready');
      await asked;
    `);
    await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
    host.kill('SIGKILL');
    await ended;
  });

  test('is not begun for a connection that is not wanted any more', async () => {
    await expect(run('', { signal: AbortSignal.abort() })).rejects.toThrow(/was stopped/);
  });

  test('that runs when the connection is closed ends with it', async () => {
    const dir = await mkdtemp(`${tmpdir()}/helper-`);
    const pid = async () => Number(await readFile(`${dir}/pid`, 'utf8').catch(() => 0));
    for (const type of ['http', 'sse', 'ws'] as const) {
      const url = `${type === 'ws' ? 'ws' : 'http'}://127.0.0.1:1/mcp`;
      const helper = `echo $$ > ${dir}/pid; exec sleep 60`;
      const { transport, close } = await dial('srv', { type, url, headersHelper: helper }, testWorld());
      const started = transport.start().catch(() => 'failed');
      await expect.poll(pid).toBeGreaterThan(0);
      await close();
      expect([await started, isRunning(await pid())]).toEqual(['failed', false]);
      await rm(`${dir}/pid`);
    }
  });
});

test.each([
  ['{"Authorization":"Bearer x"}', { Authorization: 'Bearer x' }],
  ['{}', {}],
  ['Bearer secret', 'must print one JSON object of headers, but its output is not JSON'],
  ['["secret"]', 'must print one JSON object of headers, but printed a JSON value of another type'],
  ['{"a":1}', 'printed a value of "a" that is not a string'],
  ['{"a b":"secret"}', 'printed an invalid header name'],
  ['{"a":"sec\\nret"}', 'printed a value of "a" that is not a valid header value'],
])('%s is read as %j', (text, read) => {
  expect(parseHelperOutput(text)).toEqual(read);
});

describe('the headers of an entry', () => {
  test('are its own with those of the helper before them, asked for once', async () => {
    let asked = 0;
    const headers = new RequestHeaders({ A: 'own', B: 'own' }, async () => ({ a: `helped ${++asked}` }));
    const both = await Promise.all([headers.get(), headers.get()]);
    expect(both).toEqual([
      { a: 'helped 1', b: 'own' },
      { a: 'helped 1', b: 'own' },
    ]);
    expect(await headers.get()).toBe(both[0]);
  });

  test('that were refused to several are renewed once', async () => {
    let asked = 0;
    const headers = new RequestHeaders({}, async () => ({ a: String(++asked) }));
    const refused = await headers.get();
    const renewed = await Promise.all([headers.renew(refused), headers.renew(refused)]);
    expect(renewed).toEqual([{ a: '2' }, { a: '2' }]);
    expect(await headers.renew(refused)).toEqual({ a: '2' });
  });

  test('that are the same again are none to try', async () => {
    const headers = new RequestHeaders({ B: '1' }, async () => ({ a: 'same' }));
    expect(await headers.renew(await headers.get())).toBeUndefined();
    expect(await headers.get()).toEqual({ a: 'same', b: '1' });
  });

  test('are asked for again after the helper failed', async () => {
    let asked = 0;
    const headers = new RequestHeaders({}, async () => {
      if (++asked === 1) throw new Error('down');
      return { a: 'up' };
    });
    await expect(headers.get()).rejects.toThrow('down');
    expect(await headers.get()).toEqual({ a: 'up' });
  });

  test('without a helper cannot be renewed', async () => {
    const headers = new RequestHeaders({ A: '1' });
    expect(headers.get()).toEqual({ a: '1' });
    expect(await headers.renew({ a: '1' })).toBeUndefined();
  });
});

/** A process that has ended may remain as a zombie until it is reaped. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
