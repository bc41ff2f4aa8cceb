import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createExpander, expandEntry, type Lookup } from '../../../src/config/expand/expand-entry.ts';
import type { SecretStore } from '../../../src/config/secrets/secret-store.ts';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';

describe('expand entry', () => {
  const lookup = (
    variables: Readonly<Record<string, string>>,
    secrets: Readonly<Record<string, string>> = {},
  ): Lookup => ({
    variable: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined),
    secret: (name) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined),
  });

  const VARIABLES = {
    HOST: 'example.test',
    EMPTY: '',
    TOKEN: 'tok-12345',
    A: '${B}',
    B: '${A}',
    DIR: '/srv',
  };
  const SECRETS = { gh: 'ghs-98765' };

  /** The expanded value of one argument, or the faults. */
  function argument(text: string, variables: Record<string, string> = VARIABLES): string | readonly string[] {
    const expanded = expandEntry({ command: 'x', args: [text] }, lookup(variables, SECRETS));
    if (expanded.kind === 'faulty') return expanded.faults;
    return (expanded.entry as { args: string[] }).args[0] as string;
  }

  test.each([
    ['plain $HOST', 'plain $HOST'],
    ['https://${HOST}/mcp', 'https://example.test/mcp'],
    ['${HOST}${HOST}', 'example.testexample.test'],
    ['[${EMPTY}]', '[]'],
    ['${EMPTY:-d}', 'd'],
    ['${NONE:-d}', 'd'],
    ['${NONE:-}', ''],
    ['${HOST:-d}', 'example.test'],
    ['${NONE:-${NEITHER:-${HOST}}}', 'example.test'],
    ['${NONE:-${secret:gh}}', 'ghs-98765'],
    // A missing variable in an unused default does not matter.
    ['${HOST:-${NONE}}', 'example.test'],
    ['$${HOST}', '${HOST}'],
    ['${secret:gh}', 'ghs-98765'],
    // Variables that refer to each other do not loop: a substituted value is not expanded again.
    ['${A}', '${B}'],
    ['${B:-${A}}', '${A}'],
  ])('%j becomes %j', (given, expected) => {
    expect(argument(given)).toBe(expected);
  });

  test.each([['constructor'], ['__proto__'], ['toString']])(
    '%s, an inherited property, is not a variable',
    (name) => {
      expect(argument(`\${${name}:-none}`)).toBe('none');
    },
  );

  describe('substitutes in the same way in command, args, env, url and headers', () => {
    const stdio: ExternalServerEntry = {
      type: 'stdio',
      command: '${DIR}/bin',
      args: ['--host', '${HOST}'],
      env: { '${HOST}': '${TOKEN}' },
      cwd: '${DIR}',
      includeTools: ['${HOST}'],
      toolTimeoutsMs: { '${HOST}': 5 },
      timeout: 5,
    };
    const http: ExternalServerEntry = {
      type: 'http',
      url: 'https://${HOST}/mcp',
      headers: { Authorization: 'Bearer ${secret:gh}' },
      headersHelper: '${DIR}/helper',
      tls: { ca: '${DIR}/ca', cert: '${DIR}/cert', key: '${DIR}/key', serverName: '${HOST}' },
    };

    test('substitutes only in members that describe the connection', () => {
      expect(expandEntry(stdio, lookup(VARIABLES))).toMatchObject({
        kind: 'expanded',
        entry: {
          type: 'stdio',
          command: '/srv/bin',
          args: ['--host', 'example.test'],
          env: { '${HOST}': 'tok-12345' },
          cwd: '/srv',
          includeTools: ['${HOST}'],
          toolTimeoutsMs: { '${HOST}': 5 },
          timeout: 5,
        },
      });
      expect(expandEntry(http, lookup(VARIABLES, SECRETS))).toMatchObject({
        kind: 'expanded',
        entry: {
          type: 'http',
          url: 'https://example.test/mcp',
          headers: { Authorization: 'Bearer ghs-98765' },
          headersHelper: '/srv/helper',
          tls: { ca: '/srv/ca', cert: '/srv/cert', key: '/srv/key', serverName: 'example.test' },
        },
        uses: [
          { where: 'url', kind: 'variable', name: 'HOST', from: 'value' },
          { where: 'headers.Authorization', kind: 'secret', name: 'gh', from: 'value' },
          { where: 'headersHelper', kind: 'variable', name: 'DIR', from: 'value' },
          { where: 'tls.ca', kind: 'variable', name: 'DIR', from: 'value' },
          { where: 'tls.cert', kind: 'variable', name: 'DIR', from: 'value' },
          { where: 'tls.key', kind: 'variable', name: 'DIR', from: 'value' },
          { where: 'tls.serverName', kind: 'variable', name: 'HOST', from: 'value' },
        ],
        // The path of the key is substituted in a private member, so it is masked everywhere.
        secrets: ['ghs-98765', '/srv'],
      });
      const ide: ExternalServerEntry = { type: 'ws-ide', ideName: '${HOST}', authToken: '${TOKEN}' };
      expect(expandEntry(ide, lookup(VARIABLES))).toMatchObject({
        entry: { type: 'ws-ide', ideName: 'example.test', authToken: 'tok-12345' },
        secrets: ['tok-12345'],
      });
    });

    test('does not change the given entry', () => {
      const before = structuredClone(http);
      expandEntry(http, lookup(VARIABLES, SECRETS));
      expect(http).toEqual(before);
    });
  });

  test('marks values as secret by store, name or member', () => {
    const args = ['${secret:gh}', '${HOST}', '${MY_API_KEY}', '${PGPASSWORD}', '${EMPTY_TOKEN}', '${AUTHOR}'];
    const variables = {
      HOST: 'h',
      MY_API_KEY: 'k',
      PGPASSWORD: 'p',
      EMPTY_TOKEN: '',
      AUTHOR: 'me',
      PLAIN: 'e',
    };
    const entry = { command: 'x', args, env: { X: '${PLAIN}' } };
    expect(expandEntry(entry, lookup(variables, SECRETS))).toMatchObject({
      secrets: ['ghs-98765', 'k', 'p', 'e'],
    });
  });

  test('reports all missing values at once, with key paths and remedies', () => {
    const entry: ExternalServerEntry = {
      url: '${BASE}/mcp',
      headers: { Authorization: 'Bearer ${KEY}', 'X-Key': '${KEY}${KEY}', 'a b\n': '${secret:none}' },
    };
    expect(expandEntry(entry, lookup(VARIABLES, SECRETS))).toEqual({
      kind: 'faulty',
      faults: [
        'the variable BASE, which url refers to, is not set; set it, or write ${BASE:-default}',
        'the variable KEY, which headers.Authorization, headers.X-Key refer to, is not set; set it, or write ${KEY:-default}',
        'secret none, which headers["a b\\n"] refers to, does not exist; run "toolplane secret set none"',
      ],
      uses: [
        { where: 'url', kind: 'variable', name: 'BASE', from: 'missing' },
        { where: 'headers.Authorization', kind: 'variable', name: 'KEY', from: 'missing' },
        { where: 'headers.X-Key', kind: 'variable', name: 'KEY', from: 'missing' },
        { where: 'headers.X-Key', kind: 'variable', name: 'KEY', from: 'missing' },
        { where: 'headers["a b\\n"]', kind: 'secret', name: 'none', from: 'missing' },
      ],
    });
  });

  test('reports malformed references with their position, and missing values too', () => {
    expect(expandEntry({ command: 'x', args: ['a', 'b${a b}', '${NONE}'] }, lookup(VARIABLES))).toMatchObject(
      {
        faults: [
          expect.stringMatching(/^args\[1\] has an invalid .* \(at character 2\)$/),
          expect.stringContaining('NONE'),
        ],
      },
    );
  });

  test('reports an unreadable store once', () => {
    const unreadable: Lookup = {
      variable: () => undefined,
      secret() {
        throw new Error('others may read it');
      },
    };
    const entry = { command: 'x', args: ['${secret:a}', '${secret:b}'] };
    expect(expandEntry(entry, unreadable)).toEqual({
      kind: 'faulty',
      faults: ['others may read it'],
      uses: [],
    });
  });

  test.each<[string, ExternalServerEntry, string]>([
    ['a url that is none', { url: '${TOKEN}/mcp' }, 'needs "url", a full URL (after variable substitution)'],
    ['a url of another kind', { type: 'ws', url: 'https://${HOST}' }, 'start with ws:// or wss://'],
    ['a command that is empty', { command: '${EMPTY}' }, 'needs "command", a non-empty string'],
    ['a cwd that is empty', { command: 'x', cwd: '${EMPTY}' }, '"cwd" must be a non-empty string'],
    ['what was wrong before', { command: 'x', args: 5 as never }, '"args" must be a list of strings'],
  ])('validates the expanded entry: %s', (_, entry, fault) => {
    const expanded = expandEntry(entry, lookup(VARIABLES));
    expect(expanded).toMatchObject({ kind: 'faulty', faults: [expect.stringContaining(fault)] });
    expect(JSON.stringify(expanded)).not.toContain('tok-12345');
  });

  const NAMES = ['A', 'B', 'TOKEN', 'HOST'];
  const PIECES = fc
    .array(
      fc.oneof(
        fc.constantFrom('$', '{', '}', ':-', ...NAMES.map((it) => `\${${it}}`), '${secret:s}'),
        fc.string(),
      ),
    )
    .map((it) => it.join(''));
  const ENTRY = fc.record(
    {
      type: fc.constantFrom('stdio', 'http', 'ws', 'odd'),
      command: PIECES,
      args: fc.oneof(fc.array(PIECES), fc.anything()),
      env: fc.oneof(fc.dictionary(fc.string(), PIECES), fc.anything()),
      url: PIECES,
      headers: fc.dictionary(fc.string(), PIECES),
      tls: fc.anything(),
      cwd: fc.anything(),
    },
    { requiredKeys: [] },
  );
  const VALUES = fc.dictionary(
    fc.constantFrom(...NAMES, 's'),
    fc.integer({ min: 0 }).map((it) => `value#${it}#`),
  );

  test('never throws, and faults contain no value', () => {
    fc.assert(
      fc.property(ENTRY, VALUES, (entry, values) => {
        const expanded = expandEntry(entry as ExternalServerEntry, lookup(values, values));
        if (expanded.kind === 'expanded') return;
        expect(expanded.faults.length).toBeGreaterThan(0);
        for (const value of Object.values(values)) expect(JSON.stringify(expanded)).not.toContain(value);
      }),
    );
  });

  test('an entry without references is unchanged and has no secrets', () => {
    const plain = fc.string().filter((it) => !it.includes('${'));
    fc.assert(
      fc.property(fc.array(plain), fc.dictionary(plain, plain), (args, env) => {
        const entry = { command: 'x', args, env };
        expect(expandEntry(entry, lookup(VARIABLES))).toEqual({
          kind: 'expanded',
          entry,
          uses: [],
          secrets: [],
          credentials: [],
        });
      }),
    );
  });
});

describe('expander', () => {
  function storeOf(values: Record<string, string>): SecretStore {
    const kept = new Map(Object.entries(values));
    return {
      get: (name) => kept.get(name),
      set: (name, value) => void kept.set(name, value),
      remove: (name) => kept.delete(name),
      names: () => [...kept.keys()],
    };
  }

  const UNUSED = () => {
    throw new Error('the store was asked');
  };

  test('returns the entry and the secret values for each call', () => {
    const env: Record<string, string | undefined> = { A: 'one', GONE: undefined };
    const store = storeOf({ s: 'first-secret' });
    const expand = createExpander({ env, secrets: store });
    const entry: ServerEntry = { command: 'x', args: ['${A}', '${secret:s}', '${GONE:-default}'] };
    expect(expand('srv', entry)).toMatchObject({
      entry: { command: 'x', args: ['one', 'first-secret', 'default'] },
      secrets: ['first-secret'],
    });
    env.A = 'two';
    store.set('s', 'second-secret');
    expect(expand('srv', entry)).toMatchObject({
      entry: { command: 'x', args: ['two', 'second-secret', 'default'] },
      secrets: ['second-secret'],
    });
  });

  test('reports all faults in one error of the server, with nothing run', () => {
    const expand = createExpander({ env: {}, secrets: () => storeOf({}) });
    expect(() => expand('srv', { command: '${A}', args: ['${secret:s}'] })).toThrow(
      expect.objectContaining({
        code: 'bad-config',
        server: 'srv',
        hasRun: 'no',
        message:
          'MCP server "srv": the variable A, which command refers to, is not set; set it, or write ${A:-default}; ' +
          'secret s, which args[0] refers to, does not exist; run "toolplane secret set s"',
      }),
    );
  });

  test('inherited properties are not variables', () => {
    const expand = createExpander({ env: {}, secrets: UNUSED });
    expect(() => expand('srv', { command: '${constructor}' })).toThrow('the variable constructor');
  });

  test('does not read the store without a reference to it', () => {
    const expand = createExpander({ env: { A: 'one' }, secrets: UNUSED });
    expect(expand('srv', { command: '${A}' })).toMatchObject({ entry: { command: 'one' }, secrets: [] });
  });

  test('does not expand in-process and literal entries; refuses an entry that is not an object', () => {
    const expand = createExpander({
      env: { A: 'one' },
      secrets: UNUSED,
      literal: (server) => server === 'net',
    });
    const odd = 5 as unknown as ServerEntry;
    const sdk: ServerEntry = { type: 'sdk', name: '${A}' };
    const written: ServerEntry = { url: 'https://example.test/${A}' };
    expect(expand('srv', sdk).entry).toBe(sdk);
    expect(() => expand('srv', odd)).toThrow(expect.objectContaining({ code: 'bad-config', server: 'srv' }));
    expect(expand('net', written).entry).toBe(written);
  });
});
