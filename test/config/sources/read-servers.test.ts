import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../../src/config/files/read-document.ts';
import {
  type Origin,
  readServers,
  type ServersKind,
  serversObject,
} from '../../../src/config/sources/read-servers.ts';

describe('read servers', () => {
  const FILE: Origin = { scope: 'project', label: '.mcp.json', path: '/r/.mcp.json', kind: 'file' };
  const read = (text: string, origin: Origin = FILE) => readServers(parseDocument(text), origin);

  test('reports an invalid entry with its position and loads the others', () => {
    const source = read(`{
  // Comments and trailing commas are fine.
  "mcpServers": {
    "good": { "command": "node" },
    "bad": { "type": "stdio", "command": 123 },
    "none": { "args": [] },
    "also": { "url": "https://h/\${X}", },
  },
}`);
    const place = { scope: 'project', label: '.mcp.json', path: '/r/.mcp.json' };
    const told = { level: 'error', scope: 'project', label: '.mcp.json' };
    const faults = [
      {
        ...told,
        key: 'mcpServers.bad.command',
        position: { line: 5, column: 31 },
        message: 'a stdio server needs "command", a non-empty string',
      },
      {
        ...told,
        key: 'mcpServers.none',
        position: { line: 6, column: 5 },
        message: 'a stdio server needs "command", any other server needs "url"; the entry has neither',
      },
    ];
    expect(source).toEqual({
      ...place,
      state: 'read',
      servers: [
        {
          ...place,
          name: 'good',
          position: { line: 4, column: 5 },
          raw: { command: 'node' },
          entry: { command: 'node' },
        },
        {
          ...place,
          name: 'bad',
          position: { line: 5, column: 5 },
          raw: { type: 'stdio', command: 123 },
          fault: faults[0],
        },
        { ...place, name: 'none', position: { line: 6, column: 5 }, raw: { args: [] }, fault: faults[1] },
        {
          ...place,
          name: 'also',
          position: { line: 7, column: 5 },
          raw: { url: 'https://h/${X}' },
          entry: { url: 'https://h/${X}' },
        },
      ],
      faults,
    });
  });

  test.each<[string, unknown, string, string]>([
    ['an unknown type', { type: 'grpc' }, 'mcpServers.x.type', 'unknown type "grpc"'],
    ['a server in a program', { type: 'sdk', name: 'x' }, 'mcpServers.x.type', 'cannot be defined in a file'],
    ['a text', 'npx server', 'mcpServers.x', 'must be an object'],
    ['a list', ['npx'], 'mcpServers.x', 'must be an object'],
    ['nothing', null, 'mcpServers.x', 'must be an object'],
    ['arguments that are none', { command: 'x', args: 'y' }, 'mcpServers.x.args', 'a list of strings'],
    ['a scheme that is none', { type: 'ws', url: 'https://${H}' }, 'mcpServers.x.url', 'ws:// or wss://'],
  ])('reports %s', (_name, entry, key, message) => {
    const { servers, faults } = read(JSON.stringify({ mcpServers: { x: entry, y: { command: 'z' } } }));
    expect(servers.map(({ name, entry: it }) => [name, it])).toEqual([
      ['x', undefined],
      ['y', { command: 'z' }],
    ]);
    expect(faults).toEqual([
      expect.objectContaining({ level: 'error', key, message: expect.stringContaining(message) }),
    ]);
    expect(servers[0]?.fault).toBe(faults[0]);
  });

  test('reports an invalid name and leaves the server out', () => {
    const { state, servers, faults } = read(
      '{"mcpServers":{"":{"command":"x"},"a\\nb":1,"ok":{"command":"x"}}}',
    );
    expect(state).toBe('read');
    expect(servers.map(({ name }) => name)).toEqual(['ok']);
    expect(faults.map(({ key, message }) => [key, message])).toEqual([
      ['mcpServers[""]', 'the name of a server must not be empty'],
      ['mcpServers["a\\nb"]', 'the name of a server must not contain control characters; remove them'],
    ]);
  });

  test('warns about an unknown key with a suggestion and keeps the server', () => {
    const { servers, faults } = read(
      '{ "mcpServers": { "x": { "command": "y", "connectTimeout": 5, "disabledd": 1 } } }',
    );
    expect(servers[0]?.entry).toEqual({ command: 'y', connectTimeout: 5, disabledd: 1 });
    expect(faults).toEqual([
      {
        level: 'warning',
        scope: 'project',
        label: '.mcp.json',
        key: 'mcpServers.x.connectTimeout',
        position: { line: 1, column: 42 },
        message: 'is not a known key; did you mean "connectTimeoutMs"?',
      },
      expect.objectContaining({ key: 'mcpServers.x.disabledd', message: 'is not a known key' }),
    ]);
  });

  test.each([
    ['{ "servers": {} }', 'servers', 'unknown key; rename it to "mcpServers"'],
    ['{ "mcpServers": 5 }', 'mcpServers', 'must be an object that maps server names to entries'],
    [
      '{ "a": { "command": "x" } }',
      undefined,
      'the servers are not inside "mcpServers"; write { "mcpServers": { … } } around them',
    ],
  ])('C5: refuses %s', (text, key, message) => {
    expect(read(text)).toMatchObject({
      state: 'unusable',
      servers: [],
      faults: [{ level: 'error', ...(key && { key, position: { line: 1, column: 3 } }), message }],
    });
  });

  test('reports invalid JSON once, with its position and without the text', () => {
    const source = read('{ "mcpServers": { "x": { "command": "s3cret" "env" } } }');
    expect(source).toMatchObject({ state: 'unusable', faults: [{ level: 'error', position: { line: 1 } }] });
    expect(JSON.stringify(source)).not.toContain('s3cret');
  });

  test('uses the last of duplicate servers, with a warning', () => {
    const { servers, faults } = read('{"mcpServers":{"x":{"command":"a"},"x":{"command":"b"}}}');
    expect(servers.map(({ entry, position }) => [entry, position])).toEqual([
      [{ command: 'b' }, { line: 1, column: 36 }],
    ]);
    expect(faults).toMatchObject([{ level: 'warning', key: 'mcpServers.x' }]);
  });

  test('a source may refuse, adapt and take entries', () => {
    const taken: string[] = [];
    const { servers } = read('{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"},"c":{"type":"sdk"}}}', {
      ...FILE,
      owner: 'me',
      refuse: ({ command }) => (command === 'x' ? { member: 'command', message: 'no' } : undefined),
      adapt: (raw) => ({ ...raw, cwd: '/d' }),
      take: (name, raw) => (raw as { type?: string }).type === 'sdk' && taken.push(name) > 0,
    });
    expect(servers).toMatchObject([
      { name: 'a', owner: 'me', fault: { key: 'mcpServers.a.command', message: 'no' } },
      { name: 'b', owner: 'me', raw: { command: 'y' }, entry: { command: 'y', cwd: '/d' } },
    ]);
    expect(taken).toEqual(['c']);
  });

  test('every server is either usable or reported', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ mcpServers: fc.dictionary(fc.string(), fc.jsonValue()) }),
      fc.record({
        mcpServers: fc.dictionary(
          fc.string(),
          fc.record(
            { command: fc.jsonValue(), args: fc.jsonValue(), url: fc.jsonValue() },
            { requiredKeys: [] },
          ),
        ),
      }),
    );
    fc.assert(
      fc.property(value, (it) => {
        const { servers, faults, state } = read(JSON.stringify(it));
        for (const { entry, fault } of servers)
          expect((entry === undefined) !== (fault === undefined)).toBe(true);
        for (const { fault } of servers) if (fault) expect(faults).toContain(fault);
        if (state === 'unusable') expect(faults.length).toBeGreaterThan(0);
      }),
    );
  });

  test('limits the number of servers per file and reports the rest once', () => {
    const servers = (count: number) =>
      `{"mcpServers":{${Array.from({ length: count }, (_, at) => `"a${at}":{"command":"x"}`).join()}}}`;
    expect(read(servers(500))).toMatchObject({ servers: { length: 500 }, faults: [] });
    expect(read(servers(2000))).toMatchObject({ servers: { length: 2000 }, faults: [] });
    expect(read(servers(2001))).toMatchObject({
      state: 'read',
      servers: { length: 2000 },
      faults: [
        {
          level: 'error',
          key: 'mcpServers',
          position: { line: 1, column: 2 },
          message: '2001 servers in one file; only the first 2000 are read; remove the others',
        },
      ],
    });
  });

  test('limits the number of faults; each server keeps its own', () => {
    const bad = Array.from({ length: 300 }, (_, at) => `"a${at}":1`).join();
    const { servers, faults } = read(`{"mcpServers":{${bad},"last":{"command":"x"}}}`);
    expect(faults).toHaveLength(51);
    expect(faults.at(-1)).toMatchObject({
      level: 'error',
      message: 'and 250 more problems not listed here; fix the listed problems first',
    });
    expect(servers[299]).toMatchObject({ name: 'a299', fault: { key: 'mcpServers.a299' } });
    expect(servers[300]).toMatchObject({ name: 'last', entry: { command: 'x' } });
  });

  test('reading invalid entries takes linear time', () => {
    const took = (count: number) => {
      const text = `{"mcpServers":{"a":{"command":"x",${Array.from({ length: count }, (_, at) => `"m${at}":1`).join()}}}}`;
      const start = process.threadCpuUsage();
      expect(read(text).faults).toHaveLength(51);
      const { user, system } = process.threadCpuUsage(start);
      return (user + system) / 1000;
    };
    took(5_000);
    const small = Math.min(took(5_000), took(5_000));
    expect(took(20_000)).toBeLessThan(12 * small + 200);
  });

  test('reports an invalid type once, without showing it', () => {
    const { servers, faults } = read(
      '{"mcpServers":{"x":{"type":{"toString":1,"k":"s3cret"}},"y":{"command":"z"}}}',
    );
    expect(servers.map(({ name, entry }) => [name, entry])).toEqual([
      ['x', undefined],
      ['y', { command: 'z' }],
    ]);
    expect(faults).toMatchObject([
      { key: 'mcpServers.x.type', message: expect.stringContaining('an object') },
    ]);
    expect(JSON.stringify(faults)).not.toContain('s3cret');
  });
});

describe('servers object', () => {
  const SERVER = { command: 'x' };
  const ALL: readonly ServersKind[] = ['file', 'plugin', 'settings', 'given'];

  test.each(ALL)('C5: in a %s the servers stand in mcpServers', (kind) => {
    expect(serversObject({ mcpServers: { a: SERVER }, inputs: [] }, kind)).toEqual({
      kind: 'found',
      path: ['mcpServers'],
      servers: { a: SERVER },
    });
  });

  test.each<[object, ServersKind, readonly string[], string]>([
    [{ mcpServers: [] }, 'file', ['mcpServers'], 'must be an object'],
    [{ mcpServers: null }, 'settings', ['mcpServers'], 'must be an object'],
    [{ servers: { a: SERVER } }, 'file', ['servers'], 'rename it to'],
    [{ servers: { a: SERVER } }, 'plugin', ['servers'], 'rename it to'],
    [{ mcp_servers: {} }, 'file', ['mcp_servers'], 'rename it to'],
    [{ 'mcp-servers': {} }, 'given', ['mcp-servers'], 'rename it to'],
    [{ MCPServers: {} }, 'file', ['MCPServers'], 'rename it to'],
    [{ a: SERVER }, 'file', [], 'write { "mcpServers": { … } } around them'],
    [{ a: { url: 'https://h' } }, 'given', [], 'write { "mcpServers": { … } } around them'],
    [{ a: 1 }, 'file', [], 'has no "mcpServers" object'],
    [{ a: 1 }, 'plugin', [], 'has no "mcpServers" object'],
    [{}, 'given', [], 'has no "mcpServers" object'],
  ])('C5: reports %j in a %s', (value, kind, path, message) => {
    expect(serversObject(value as Record<string, unknown>, kind)).toEqual({
      kind: 'faulty',
      path,
      message: expect.stringContaining(message),
    });
  });

  test('C5: accepts a plugin file without the wrapper', () => {
    const value = { $schema: 'x', a: SERVER, b: 5 };
    expect(serversObject(value, 'plugin')).toEqual({ kind: 'found', path: [], servers: { a: SERVER, b: 5 } });
  });

  test.each<[object, ServersKind]>([
    [{}, 'file'],
    [{}, 'plugin'],
    [{}, 'settings'],
    [{ model: 'x', mcp_servers: {} }, 'settings'],
  ])('accepts %j in a %s without servers', (value, kind) => {
    expect(serversObject(value as Record<string, unknown>, kind)).toMatchObject({
      kind: 'found',
      servers: {},
    });
  });
});
