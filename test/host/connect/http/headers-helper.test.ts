import { describe, expect, test } from 'vitest';
import { EntryHeaders } from '../../../../src/host/connect/http/entry-headers.ts';
import { parseHelperOutput, runHeadersHelper } from '../../../../src/host/connect/http/headers-helper.ts';
import { testWorld } from '../servers.ts';

const run = (code: string, limitMs?: number) =>
  runHeadersHelper(
    'srv',
    { url: 'http://h/mcp', headersHelper: `"${process.execPath}" -e "${code}"` },
    testWorld(),
    limitMs,
  );

describe('a headersHelper', () => {
  test('knows its server and gets nothing else of the environment', async () => {
    const said = await run(
      'const {TOOLPLANE_SERVER:s,TOOLPLANE_URL:u,SECRET_TOKEN:t}=process.env;console.log(JSON.stringify({s,u,t:String(t)}))',
    );
    expect(said).toEqual({ s: 'srv', u: 'http://h/mcp', t: 'undefined' });
  });

  test.each([
    ['process.exit(3)', 'MCP server "srv": its "headersHelper" ended with exit code 3'],
    ['console.log(5)', 'MCP server "srv": its "headersHelper" must print one JSON object of headers'],
    ["console.log('x'.repeat(99999))", 'MCP server "srv": its "headersHelper" printed more than 65536 bytes'],
  ])('%s is one clear fault', async (code, message) => {
    await expect(run(code)).rejects.toMatchObject({ name: 'HostError', code: 'bad-config', message });
  });

  test('that hangs is ended with all it started', async () => {
    const fault = /did not finish within 300 ms/;
    await expect(run('setInterval(()=>{},1e6)', 300)).rejects.toThrow(fault);
  });
});

test.each([
  ['{"Authorization":"Bearer x"}', { Authorization: 'Bearer x' }],
  ['{}', {}],
  ['Bearer secret', 'must print one JSON object of headers, and what it printed is no JSON'],
  ['["secret"]', 'must print one JSON object of headers'],
  ['{"a":1}', 'printed a "a" that is no string'],
  ['{"a b":"secret"}', 'printed a name that no header can have'],
  ['{"a":"sec\\nret"}', 'printed a "a" that no header can hold'],
])('%s is read as %j', (text, read) => {
  expect(parseHelperOutput(text)).toEqual(read);
});

describe('the headers of an entry', () => {
  test('are its own with those of the helper before them, asked for once', async () => {
    let asked = 0;
    const headers = new EntryHeaders({ A: 'own', B: 'own' }, async () => ({ a: `helped ${++asked}` }));
    const both = await Promise.all([headers.get(), headers.get()]);
    expect(both).toEqual([
      { a: 'helped 1', b: 'own' },
      { a: 'helped 1', b: 'own' },
    ]);
    expect(await headers.get()).toBe(both[0]);
  });

  test('that were refused to several are renewed once', async () => {
    let asked = 0;
    const headers = new EntryHeaders({}, async () => ({ a: String(++asked) }));
    const refused = await headers.get();
    const renewed = await Promise.all([headers.renew(refused), headers.renew(refused)]);
    expect(renewed).toEqual([{ a: '2' }, { a: '2' }]);
    expect(await headers.renew(refused)).toEqual({ a: '2' });
  });

  test('are asked for again after the helper failed', async () => {
    let asked = 0;
    const headers = new EntryHeaders({}, async () => {
      if (++asked === 1) throw new Error('down');
      return { a: 'up' };
    });
    await expect(headers.get()).rejects.toThrow('down');
    expect(await headers.get()).toEqual({ a: 'up' });
  });

  test('without a helper cannot be renewed', async () => {
    const headers = new EntryHeaders({ A: '1' });
    expect(headers.get()).toEqual({ a: '1' });
    expect(await headers.renew({ a: '1' })).toBeUndefined();
  });
});
