import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KnownEra, ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import {
  eraForRetry,
  eraKey,
  fileEraCache,
  isStartFailure,
  memoryEraCache,
  planNegotiation,
} from '../../../src/mcp/connection/protocol-era.ts';

describe('era', () => {
  const modern: KnownEra = { era: 'modern', discover: {} };
  const legacy: KnownEra = { era: 'legacy' };
  const auto = { negotiation: { mode: 'auto' } };
  const old = { negotiation: { mode: 'legacy' } };

  describe('negotiation of the protocol era', () => {
    test.each([
      [
        'a process',
        { type: 'stdio' },
        'process',
        undefined,
        { negotiation: { mode: 'auto', probe: { timeoutMs: 6000 } } },
      ],
      ['a process that answered before', { type: 'stdio' }, 'process', modern, auto],
      [
        'a process that did not',
        { type: 'stdio' },
        'process',
        legacy,
        { ...auto, prior: { kind: 'legacy' } },
      ],
      [
        'a server on the network',
        { type: 'http' },
        'network',
        undefined,
        { negotiation: { mode: 'auto', probe: { timeoutMs: 10_000 } } },
      ],
      ['a server on the network that answered before', { type: 'http' }, 'network', modern, auto],
      [
        'a socket',
        { type: 'ws' },
        'process',
        undefined,
        { negotiation: { mode: 'auto', probe: { timeoutMs: 1000 } } },
      ],
      [
        'the socket of an editor',
        { type: 'ws-ide' },
        'process',
        undefined,
        { negotiation: { mode: 'auto', probe: { timeoutMs: 1000 } } },
      ],
      ['one in this process', { type: 'sdk' }, 'network', undefined, old],
      ['one of the older HTTP', { type: 'sse' }, 'network', undefined, old],
      [
        'one in this process that was told of',
        { type: 'sdk', era: 'modern' },
        'network',
        undefined,
        { negotiation: { mode: { pin: '2026-07-28' } } },
      ],
      ['an entry with era legacy', { type: 'http', era: 'legacy' }, 'network', modern, old],
      [
        'an entry with era modern',
        { type: 'stdio', era: 'modern' },
        'process',
        legacy,
        { negotiation: { mode: { pin: '2026-07-28' } } },
      ],
    ] as const)('%s', (_, entry, kind, known, plan) => {
      expect(planNegotiation(entry, kind, known, 30_000)).toEqual(plan);
    });

    test('the question takes no more than a third of the time there is', () => {
      const { negotiation } = planNegotiation({ type: 'stdio' }, 'process', undefined, 900);
      expect(negotiation.probe).toEqual({ timeoutMs: 300 });
    });
  });

  describe('what makes a server the same', () => {
    const stdio: ServerEntry = { command: 'node', args: ['s.js', '--token=abc'], env: { KEY: '1' } };
    test('is its command, its arguments and where it runs', () => {
      expect(eraKey(stdio, '/a')).toBe(eraKey({ ...stdio, env: { KEY: '2' }, timeout: 5 }, '/a'));
      expect(eraKey(stdio, '/a')).not.toBe(eraKey(stdio, '/b'));
      expect(eraKey({ ...stdio, cwd: '/b' }, '/a')).toBe(eraKey(stdio, '/b'));
      expect(eraKey({ ...stdio, args: [] }, '/a')).not.toBe(eraKey(stdio, '/a'));
    });

    test('or the address', () => {
      const http: ServerEntry = { type: 'http', url: 'http://h.test/mcp?key=abc' };
      expect(eraKey(http, '/a')).toBe(eraKey({ ...http, headers: { Authorization: 'x' } }, '/b'));
      expect(eraKey(http, '/a')).not.toBe(eraKey({ ...http, url: 'http://h.test/other' }, '/a'));
    });

    test('does not reveal its parts', () => {
      expect(eraKey(stdio, '/a')).toMatch(/^[\w-]{43}$/);
    });

    test('is nothing for those in this process', () => {
      expect(eraKey({ type: 'sdk', name: 'calc' }, '/a')).toBeUndefined();
    });
  });

  describe('once more', () => {
    const closed = Object.assign(new Error('closed'), { code: 'ERA_NEGOTIATION_FAILED' });
    const refused = Object.assign(new Error('no'), { code: -32601 });
    const wire = { isProcessLike: true, isProbeUnanswered: false, lateDiscovery: undefined };
    const answers = { supportedVersions: ['2026-07-28'] };
    test.each([
      ['one that died of the question', closed, undefined, { ...wire, isProbeUnanswered: true }, legacy],
      [
        'one that answered too late',
        refused,
        undefined,
        { ...wire, lateDiscovery: answers },
        { era: 'modern', discover: answers },
      ],
      [
        'one on the network that went away',
        closed,
        undefined,
        { ...wire, isProcessLike: false, isProbeUnanswered: true },
        undefined,
      ],
      [
        'one on the network that ignored the question',
        Object.assign(new Error(), { code: 'REQUEST_TIMEOUT' }),
        undefined,
        { ...wire, isProcessLike: false, isProbeUnanswered: true },
        legacy,
      ],
      ['one that answered and failed', refused, undefined, wire, undefined],
      ['one that was never reached', closed, undefined, undefined, undefined],
      ['one thought old that refuses to be', refused, legacy, wire, 'unknown'],
      [
        'one thought old that answers 400',
        Object.assign(new Error(), { status: 400 }),
        legacy,
        wire,
        'unknown',
      ],
      [
        'one thought old that wants a sign-in',
        Object.assign(new Error(), { status: 401 }),
        legacy,
        wire,
        undefined,
      ],
      [
        'one thought old that is away',
        Object.assign(new Error(), { code: 'ECONNREFUSED' }),
        legacy,
        wire,
        undefined,
      ],
    ] as const)('%s', (_, failure, known, seen, verdict) => {
      expect(eraForRetry({ failure, known, wire: seen })).toEqual(verdict);
    });
  });

  describe('the last lines of a process that ended', () => {
    const EXITED = '(exited with code 1)';

    test.each<[string, readonly string[]]>([
      ['a missing variable', ['Error: WEATHER_API_KEY is not set', EXITED]],
      ['a missing module', ["Error: Cannot find module '/app/server.js'", '    at Module._load', EXITED]],
      ['a missing Python module', ["ModuleNotFoundError: No module named 'mcp_server_git'", EXITED]],
      [
        'a package that does not exist',
        ['npm error 404 Not Found - GET https://registry.npmjs.org/nope', EXITED],
      ],
      ['a port in use', ['Error: listen EADDRINUSE: address already in use :::3000', EXITED]],
      ['a usage', ['(stdout) usage: serve --config FILE', EXITED]],
      ['a missing argument', ['Error: missing required parameter --api-key', EXITED]],
      ['a database that is away', ['Failed to initialize the database: connect ECONNREFUSED', EXITED]],
      ['a reason of any kind', ['boom', EXITED]],
    ])('say that it could not start: %s', (_, lines) => {
      expect(isStartFailure(lines)).toBe(true);
    });

    test.each<[string, readonly string[]]>([
      ['nothing', []],
      ['how it ended, and nothing else', [EXITED]],
      ['a signal', ['(ended by SIGSEGV)']],
      ['a banner', ['GitHub MCP Server running on stdio', EXITED]],
      [
        'an unexpected first message',
        ['Error: expect initialized request, but received: Some(Request)', EXITED],
      ],
      ['the method', ['unknown method server/discover', EXITED]],
      [
        'a message that was not understood',
        ["TypeError: Cannot read properties of undefined (reading 'x')", EXITED],
      ],
      ['a panic', ["thread 'main' panicked at src/main.rs:42", EXITED]],
      ['broken JSON', ['SyntaxError: Unexpected token in JSON at position 0', EXITED]],
    ])('may be about the probe: %s', (_, lines) => {
      expect(isStartFailure(lines)).toBe(false);
    });
  });
});

describe('memory eras', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;
  const legacy = { era: 'legacy' } as const;
  const modern = { era: 'modern', discover: { supportedVersions: ['2026-07-28'] } } as const;

  describe('a memory of eras', () => {
    test('keeps an era until it is removed', () => {
      const eras = memoryEraCache();
      eras.remember('a', legacy);
      eras.remember('b', modern);
      expect([eras.recall('a'), eras.recall('b'), eras.recall('c')]).toEqual([legacy, modern, undefined]);
      eras.remember('a', undefined);
      expect(eras.recall('a')).toBeUndefined();
    });

    test('expires after a week, also if found repeatedly', () => {
      let now = 0;
      const eras = memoryEraCache(() => now);
      eras.remember('a', legacy);
      now = 6 * DAY_MS;
      eras.remember('a', legacy);
      expect(eras.recall('a')).toEqual(legacy);
      now = 7 * DAY_MS;
      expect(eras.recall('a')).toBeUndefined();
      eras.remember('a', legacy);
      expect(eras.recall('a')).toEqual(legacy);
    });

    test('holds the newest five hundred', () => {
      const eras = memoryEraCache();
      for (let n = 0; n <= 500; n++) eras.remember(`k${n}`, legacy);
      expect([eras.recall('k0'), eras.recall('k1'), eras.recall('k500')]).toEqual([
        undefined,
        legacy,
        legacy,
      ]);
    });
  });

  describe('a file of eras', () => {
    let folder: string;
    let path: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'eras-'));
      path = join(folder, 'deep', 'eras.json');
    });
    afterEach(() => rm(folder, { recursive: true }));

    test('is read only by the next connection', async () => {
      const eras = fileEraCache(path);
      eras.remember('a', legacy);
      eras.remember('b', modern);
      await eras.flush();
      const next = fileEraCache(path);
      expect([next.recall('a'), next.recall('b')]).toEqual([legacy, modern]);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readdir(join(folder, 'deep'))).toEqual(['eras.json']);
    });

    test('is written once for many changes, and not for none', async () => {
      const eras = fileEraCache(path);
      await eras.flush();
      await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
      for (const key of ['a', 'b', 'c']) eras.remember(key, legacy);
      await eras.flush();
      const { mtimeMs } = await stat(path);
      eras.remember('a', legacy);
      await eras.flush();
      expect((await stat(path)).mtimeMs).toBe(mtimeMs);
    });

    test.each([
      ['broken', '{'],
      ['of another format', '{"format":99,"eras":{"a":{"at":1,"verdict":{"era":"legacy"}}}}'],
      ['of another kind', '[]'],
      ['full of nonsense', '{"format":1,"eras":{"a":7,"b":{"at":"x"},"c":{"at":1,"verdict":{"era":"odd"}}}}'],
    ])('that is %s counts as empty and is replaced', async (_, text) => {
      path = join(folder, 'eras.json');
      await writeFile(path, text);
      const eras = fileEraCache(path);
      expect(['a', 'b', 'c'].map((key) => eras.recall(key))).toEqual([undefined, undefined, undefined]);
      eras.remember('a', legacy);
      await eras.flush();
      expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
        format: 1,
        eras: { a: { verdict: legacy } },
      });
    });

    test('that cannot be written is ignored', async () => {
      path = join(folder, 'eras.json', 'under', 'a', 'file');
      await writeFile(join(folder, 'eras.json'), '');
      await chmod(join(folder, 'eras.json'), 0o400);
      const eras = fileEraCache(path);
      eras.remember('a', legacy);
      await eras.flush();
      expect(eras.recall('a')).toEqual(legacy);
    });
  });
});
