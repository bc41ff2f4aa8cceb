import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../../src/config/files/read-document.ts';
import { type Origin, readServers } from '../../../src/config/sources/read-servers.ts';
import { normalizeEntry, validateServerName } from '../../../src/config/sources/validate-entry.ts';

describe('normalizeEntry', () => {
  const FILE: Origin = { scope: 'project', label: '.mcp.json', path: '/r/.mcp.json', kind: 'file' };

  /** The only server of a file, and its diagnostics. */
  function readOne(raw: object) {
    const { servers, faults } = readServers(parseDocument(JSON.stringify({ mcpServers: { x: raw } })), FILE);
    return {
      server: servers[0],
      told: faults.map(({ level, key, message }) => `${level} ${key}: ${message}`),
    };
  }

  const A = { command: 'a' };

  test.each<[object, object]>([
    [{ disabled: true }, { off: 'disabled' }],
    [{ enabled: false }, { off: 'enabled' }],
    [{ disabled: true, enabled: true }, { off: 'disabled' }],
    [{ disabled: false, enabled: true }, {}],
  ])('%j enables or disables an entry and is not part of the connection', (members, off) => {
    const raw = { ...A, ...members };
    expect(normalizeEntry(raw)).toEqual({ entry: A, ...off });
    expect(readOne(raw)).toMatchObject({ server: { raw, entry: A, ...off }, told: [] });
  });

  test.each([{ disabled: 'yes' }, { enabled: 0 }])('refuses %j, because it may mean disabled', (members) => {
    const [member] = Object.keys(members);
    const { server, told } = readOne({ ...A, ...members });
    expect(server?.entry).toBeUndefined();
    expect(told).toEqual([`error mcpServers.x.${member}: "${member}" must be true or false`]);
  });

  test.each(['streamable-http', 'streamableHttp', 'streamable_http'])(
    'accepts %s as http without a warning',
    (type) => {
      const raw = { type, url: 'https://h/mcp' };
      const { server, told } = readOne(raw);
      expect(server).toMatchObject({ raw, entry: { type: 'http', url: 'https://h/mcp' } });
      expect(told).toEqual([]);
    },
  );

  test('returns an entry without aliases and switches unchanged', () => {
    const raw = { type: 'http', url: 'https://h' };
    expect(normalizeEntry(raw).entry).toBe(raw);
  });

  test('reports an unknown type with the valid ones', () => {
    expect(readOne({ type: 'carrier-pigeon', url: 'https://h' }).told).toEqual([
      'error mcpServers.x.type: unknown type "carrier-pigeon"; known are stdio, http, sse, ws, sse-ide, ws-ide',
    ]);
  });

  test('explains members of other programs', () => {
    const { server, told } = readOne({ ...A, transport: 'stdio', autoApprove: ['t'], alwaysAllow: [] });
    expect(server?.entry).toBeDefined();
    expect(told).toEqual([
      'warning mcpServers.x.transport: is not supported; use "type" with "stdio", "http", "sse" or "ws"',
      expect.stringMatching(/^warning mcpServers\.x\.autoApprove: .* {"allow": \["mcp__x__<tool>"\]}$/),
      expect.stringMatching(/^warning mcpServers\.x\.alwaysAllow: .* "permissions"/),
    ]);
    expect(readOne({ httpUrl: 'https://h' }).told).toEqual([
      'error mcpServers.x: a stdio server needs "command", any other server needs "url"; the entry has neither; "httpUrl" is not supported; use "url" with "type": "http"',
    ]);
    expect(readOne({ serverUrl: 'https://h' }).told[0]).toMatch(/; "serverUrl" is not supported; use "url"$/);
  });
});

describe('server name', () => {
  test.each(['github', 'a b', 'Größe', '日本語', 'my.server/2', 'x'.repeat(200), 'constructor', '👩‍💻'])(
    'accepts the name %s',
    (name) => {
      expect(validateServerName(name)).toBeUndefined();
    },
  );

  test.each<[string, string]>([
    ['', 'not be empty'],
    ['  ', 'not be empty'],
    ['x'.repeat(201), 'at most 200'],
    ['a\nb', 'control'],
    ['a\u0000', 'control'],
    ['a\u2028b', 'control'],
    ['a\u202eb', 'control'],
    ['\ud800', 'control'],
    ['--trust-repository', 'not begin with "-"'],
    ['-', 'not begin with "-"'],
    ['__proto__', 'JavaScript'],
  ])('refuses the name %j: %s', (name, fault) => {
    expect(validateServerName(name)).toContain(fault);
  });
});
