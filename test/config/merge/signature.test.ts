import { describe, expect, test } from 'vitest';
import { signatureOf } from '../../../src/config/merge/signature.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';

type Pair = [ExternalServerEntry, ExternalServerEntry];

describe('two entries lead to the same place (R167)', () => {
  test.each<Pair>([
    [{ url: 'https://a.example/mcp' }, { type: 'http', url: 'https://A.example:443/mcp' }],
    [
      { type: 'sse', url: 'https://a.example' },
      { type: 'http', url: 'https://a.example./#part' },
    ],
    [
      { url: 'https://user:password@a.example/' },
      { url: 'https://a.example/', headers: { authorization: 'x' } },
    ],
    [
      { url: 'https://a.example/', trust: true, timeout: 5000, includeTools: ['a'], required: true },
      { url: 'https://a.example/' },
    ],
    [{ url: `\${BASE}/mcp` }, { type: 'http', url: `\${BASE}/mcp` }],
    [{ command: 'run' }, { type: 'stdio', command: 'run', args: [] }],
    [
      { command: 'run', args: ['a'], env: { TOKEN: '1' } },
      { command: 'run', args: ['a'], env: { TOKEN: '2' } },
    ],
    [{ type: 'ws-ide' }, { type: 'sse-ide', authToken: 'x' }],
  ])('%j and %j', (a, b) => {
    expect(signatureOf(a)).toBe(signatureOf(b));
  });
});

describe('two entries lead to different places', () => {
  test.each<Pair>([
    [{ url: 'https://a.example/mcp' }, { url: 'https://a.example/mcp/' }],
    [{ url: 'https://a.example/mcp?team=a' }, { url: 'https://a.example/mcp?team=b' }],
    [{ url: 'https://a.example/' }, { url: 'http://a.example/' }],
    [{ url: 'https://a.example/' }, { url: 'https://a.example:8443/' }],
    [{ url: `https://\${HOST}/` }, { url: `https://\${host}/` }],
    [
      { command: 'run', args: ['a b'] },
      { command: 'run', args: ['a', 'b'] },
    ],
    [
      { command: 'run', args: ['a', 'b'] },
      { command: 'run', args: ['b', 'a'] },
    ],
    [{ command: 'run' }, { command: 'run', args: [''] }],
    [{ command: 'run a' }, { command: 'run', args: ['a'] }],
    [
      { command: './run', cwd: '/a' },
      { command: './run', cwd: '/b' },
    ],
    [
      { command: 'run', cwd: 'a' },
      { command: 'a', args: ['run'] },
    ],
    [{ command: 'https://a.example/' }, { url: 'https://a.example/' }],
    [
      { type: 'ws-ide', ideName: 'One' },
      { type: 'ws-ide', ideName: 'Two' },
    ],
  ])('%j and %j', (a, b) => {
    expect(signatureOf(a)).not.toBe(signatureOf(b));
  });
});
