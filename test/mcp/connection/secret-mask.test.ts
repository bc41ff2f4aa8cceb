import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  credentialsOf,
  replaceEscaped,
  SecretMask,
  secretsOf,
} from '../../../src/mcp/connection/secret-mask.ts';
import { StderrLines } from '../../../src/mcp/transports/stdio/stdio-transport.ts';
import { failure, open } from '../support/attempt.ts';
import { leakingServer, rawServer } from '../support/raw-servers.ts';
import { script, testWorld } from '../support/servers.ts';
import { startWeb } from '../transports/http/support/web.ts';

describe('secrets', () => {
  const OWN = 'zq81-my-own-words-7741';

  describe('what a server was entrusted with is masked', () => {
    test.each([
      ['as it is', [OWN], `you sent ${OWN}!`, 'you sent [redacted]!'],
      ['wherever it stands', ['abcdef'], 'abcdef:abcdef', '[redacted]:[redacted]'],
      ['without its scheme', ['Digest 0123456789'], 'got 0123456789', 'got [redacted]'],
      ['line by line', ['first line\nsecond line'], 'bad: second line', 'bad: [redacted]'],
      ['as JSON writes it', ['pass"word"\\'], '{"a":"pass\\"word\\"\\\\"}', '{"a":"[redacted]"}'],
      ['as URLs write it', ['a b/c d'], 'GET /?x=a%20b%2Fc%20d', 'GET /?x=[redacted]'],
      [
        'although it was truncated',
        [OWN],
        `it said "${OWN.slice(0, 9)}…"; check`,
        'it said "[redacted]…"; check',
      ],
      ['the longest first', ['secret', 'secret-and-more'], 'secret-and-more', '[redacted]'],
      ['but not short words', ['true', 'info', ''], 'it is true', 'it is true'],
      ['beside what looks like a credential', [OWN], 'Bearer abcdefgh', 'Bearer [redacted]'],
    ])('%s', (_, values, text, masked) => {
      expect(new SecretMask(values).mask(text)).toBe(masked);
    });

    test.each([
      'tok-9f8a7c6b5d4e3f2a1b0c',
      'alice.session.token.value',
      '0f8fad5b-d9cb-469f-a165-70867728950e',
    ])('the access token %s, also in messages', (token) => {
      const secrets = new SecretMask();
      secrets.addToken(token);
      const message = { result: { text: `x ${token} ${btoa(token)}` } };
      expect(secrets.maskMessage(message).result.text).not.toMatch(
        new RegExp(`${token}|${btoa(token).slice(0, 12)}`),
      );
      expect(secrets.mask(`x ${token} y`)).toBe('x [redacted] y');
    });

    test('only the last access tokens, and all other secrets', () => {
      const secrets = new SecretMask([OWN]);
      const tokens = Array.from({ length: 9 }, (_, at) => `tok.renewed.${at}`);
      for (const token of tokens) secrets.addToken(token);
      secrets.addToken('tok.renewed.6');
      const kept = tokens.filter((token) => secrets.maskCredentials(token) === token);
      expect(kept).toEqual(tokens.slice(0, 5));
      expect(secrets.mask(OWN)).toBe('[redacted]');
    });

    test('also secrets added later', () => {
      const secrets = new SecretMask();
      secrets.add([OWN]);
      expect(secrets.mask(OWN)).toBe('[redacted]');
    });

    test('brief is one line, not long, and has no half of a secret', () => {
      const brief = new SecretMask([OWN]).brief(`a\n  b ${'x'.repeat(288)} ${OWN} and more`);
      expect(brief).toHaveLength(301);
      expect(brief).toMatch(/^a b x+ \[redact…$/);
    });

    test('brief has no beginning of a long secret', () => {
      const long = 'k3y.'.repeat(2000);
      expect(new SecretMask([], [long]).brief(`bad token ${long}`)).toBe('bad token [redacted]');
    });

    test.each([1, 700, 200_000])(
      'stderr has no beginning of a long secret, in pieces of %d bytes',
      (size) => {
        const long = 'k3y.'.repeat(2000);
        const heard: string[] = [];
        const lines = new StderrLines((line) => heard.push(line), new SecretMask([], [long]));
        const bytes = Buffer.from(`${'x'.repeat(300)} ${long} ${'y'.repeat(120_000)}\n`);
        for (let at = 0; at < bytes.length; at += size) lines.write(bytes.subarray(at, at + size));
        expect(heard).toHaveLength(1);
        expect(heard[0]).toMatch(/^x{300} \[redacted\] y+…$/);
        expect(heard[0]).toHaveLength(1001);
      },
    );

    test('all of env and headers, and the token', () => {
      const entry = { command: 'x', env: { A: '1' }, headers: { b: '2' }, authToken: '3' };
      expect(secretsOf(entry)).toEqual(['1', '2', '3']);
      expect(new SecretMask(secretsOf({ type: 'sdk', name: 'x' })).mask('x')).toBe('x');
    });
  });

  describe('no value of the entry is shown, though the server says it', () => {
    test('in its stderr, and in the reason why it could not start', async () => {
      const lines: string[] = [];
      const entry = {
        ...script('console.error("login failed with " + process.env.MY_KEY); process.exit(3)'),
        env: { MY_KEY: OWN },
        era: 'legacy' as const,
      };
      const thrown = (await failure(entry, testWorld({ onStderr: (_, line) => lines.push(line) }))) as Error;
      expect(thrown.message).toContain('login failed with [redacted]');
      expect(lines).toEqual(['login failed with [redacted]']);
    });

    test('in noise, nor in the lines that are kept', async () => {
      const noise: string[] = [];
      const entry = {
        ...rawServer(`(message, send, greet) => {
        if (message.method !== 'initialize') return;
        console.log(process.env.MY_KEY);
        console.error(process.env.MY_KEY);
        greet(message);
      }`),
        env: { MY_KEY: OWN },
        era: 'legacy' as const,
      };
      await using far = await open(entry, testWorld({ onUnexpectedOutput: (_, what) => noise.push(what) }));
      await expect.poll(() => far.connection.stderr()).toContain('[redacted]');
      expect(noise).toEqual(['non-protocol output on stdout: [redacted]']);
    });

    test.each(['initialize', 'tools/call'])('in why "%s" failed', async (refused) => {
      await using web = await startWeb(({ message, headers }, response) => {
        if (message.method !== refused) return false;
        return response.writeHead(200, { 'content-type': 'text/plain' }).end(`you sent ${headers['x-key']}`);
      });
      const entry = { type: 'http', url: web.url, era: 'legacy', headers: { 'x-key': OWN } } as const;
      const thrown = await (async () => {
        if (refused === 'initialize') return failure(entry);
        await using far = await open(entry);
        return await far.connection.callTool('t', {}).catch((fault: unknown) => fault);
      })();
      const message = expect.stringContaining('you sent [redacted]');
      expect(thrown).toMatchObject({ name: 'HostError', message });
    });

    test('also if its helper printed it', async () => {
      await using web = await startWeb(({ message, headers }, response) => {
        if (message.method !== 'tools/call') return false;
        return response.writeHead(200, { 'content-type': 'text/plain' }).end(`you sent ${headers['x-key']}`);
      });
      const headersHelper = `echo '{"x-key":"${OWN}"}'`;
      await using far = await open({ type: 'http', url: web.url, era: 'legacy', headersHelper });
      await expect(far.connection.callTool('t', {})).rejects.toMatchObject({
        name: 'HostError',
        message: expect.stringContaining('you sent [redacted]'),
      });
    });

    test('in its refusal to be greeted, which is one line and not long', async () => {
      await using web = await startWeb(({ message, headers }, response) => {
        if (message.method !== 'initialize') return false;
        const error = { code: -32000, message: `${headers['x-key']}\n`.repeat(100_000) };
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
      });
      const entry = { type: 'http', url: web.url, era: 'legacy', headers: { 'x-key': OWN } } as const;
      const { message } = (await failure(entry)) as Error;
      expect(message).toMatch(
        /^MCP server "srv": the server rejected the connection: \[redacted\] \[redacted\].*…$/,
      );
      expect(message.length).toBeLessThan(400);
    });
  });

  const KEY = 'k3y-zq81-"x"-7741';

  describe('credentials in messages', () => {
    const secrets = new SecretMask([], [KEY]);
    const at = (offset: number) => Buffer.from(`${'u'.repeat(offset)}${KEY}:rest`).toString('base64');

    test.each([
      ['as it is', `key ${KEY}.`, 'key [redacted].'],
      ['as JSON writes it', JSON.stringify({ KEY }), '{"KEY":"[redacted]"}'],
      ['as URLs write it', `?k=${encodeURIComponent(KEY)}&a=b`, '?k=[redacted]&a=b'],
    ])('are masked: %s', (_, text, masked) => {
      expect(secrets.maskMessage({ result: { a: [{ text }] } })).toEqual({
        result: { a: [{ text: masked }] },
      });
    });

    const PUNCTUATED = 'aB3+d/E=\'f g&h<i"é';
    const unicode = (text: string, isEscaped = (_: string) => true) =>
      text.replace(/./gu, (it) =>
        isEscaped(it) ? `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}` : it,
      );
    const json = JSON.stringify(PUNCTUATED).slice(1, -1);
    test.each([
      ['every character as \\u', unicode(PUNCTUATED)],
      ['the characters that .NET escapes', unicode(PUNCTUATED, (it) => /[+'&<"é]/.test(it))],
      ['the characters that Go escapes', json.replaceAll('&', '\\u0026').replaceAll('<', '\\u003c')],
      ['the characters that PHP escapes', json.replaceAll('/', '\\/').replace('é', '\\u00e9')],
      ['JSON in a string of JSON', JSON.stringify(JSON.stringify({ a: PUNCTUATED })).slice(1, -1)],
      ['a URL in lower case', encodeURIComponent(PUNCTUATED).replace(/%../g, (it) => it.toLowerCase())],
      ['a path of a URL', encodeURIComponent(PUNCTUATED).replaceAll('%2F', '/')],
      ['a form', new URLSearchParams({ a: PUNCTUATED }).toString()],
      ['a URL in a URL', encodeURIComponent(encodeURIComponent(PUNCTUATED))],
      [
        'HTML',
        PUNCTUATED.replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('"', '&quot;')
          .replaceAll("'", '&#39;'),
      ],
      ['hexadecimal digits', Buffer.from(PUNCTUATED).toString('hex')],
      ['hexadecimal digits in capitals', Buffer.from(PUNCTUATED).toString('hex').toUpperCase()],
    ])('are masked in %s, and nothing around them', (_, text) => {
      const { result } = new SecretMask([], [PUNCTUATED]).maskMessage({
        result: { text: `50%25 \\u0041 ${text} \\/ &amp;` },
      });
      expect(result.text).toMatch(/^50%25 \\u0041 .*\[redacted\].* \\\/ &amp;$/s);
      expect(result.text).not.toMatch(/aB3|f g|3c|003/i);
    });

    test.each([0, 1, 2, 3, 4, 5])('are masked in base64, %d bytes after its beginning', (offset) => {
      const { text } = secrets.maskMessage({ params: { text: at(offset) } }).params;
      expect(text).toContain('[redacted]');
      expect(Buffer.from(text, 'base64url').toString('latin1')).not.toContain(KEY.slice(3, 14));
    });

    test('are masked in names of members, and in nothing that leads back to the server', () => {
      const message = {
        jsonrpc: '2.0',
        id: KEY,
        method: KEY,
        params: {
          progressToken: KEY,
          nextCursor: KEY,
          requestState: KEY,
          [`a ${KEY}`]: 1,
          inner: { nextCursor: KEY },
        },
      };
      expect(secrets.maskMessage(message)).toEqual({
        ...message,
        params: {
          progressToken: KEY,
          nextCursor: KEY,
          requestState: KEY,
          'a [redacted]': 1,
          inner: { nextCursor: '[redacted]' },
        },
      });
    });

    test('leave a message without any the same object', () => {
      const message = { result: { content: [{ type: 'text', text: 'x'.repeat(100) }], n: [null, 1, true] } };
      expect(secrets.maskMessage(message)).toBe(message);
      expect(new SecretMask(['only-for-diagnostics']).maskMessage(message)).toBe(message);
    });
  });

  /** A value as text, including its causes and non-enumerable members. */
  const dump = (value: unknown) => inspect(value, { depth: 20, showHidden: true, maxArrayLength: null });

  test('nothing a server sends brings its credential into the host', async () => {
    const heard: unknown[] = [];
    const world = testWorld({
      onLog: (_, entry) => heard.push(entry),
      onUnexpectedOutput: (_, what) => heard.push(what),
      clientFeatures: () => ({
        capabilities: { elicitation: {} },
        handlers: {
          'elicitation/create': async (params) => {
            heard.push(params);
            return { action: 'decline' };
          },
        },
      }),
    });
    const entry = { ...leakingServer, env: { SERVICE_TOKEN: OWN, MODE: 'production' } };
    await using far = await open(entry, world);
    const { connection } = far;
    heard.push(connection.serverInfo, connection.instructions, await connection.listTools());
    connection.onNotification?.((...notice) => heard.push(notice));
    heard.push(await connection.callTool('t', {}, { onProgress: (progress) => heard.push(progress) }));
    for (const failed of [
      connection.callTool('fail', {}),
      connection.request('prompts/get', { name: 'p' }),
    ]) {
      heard.push(await failed.catch((fault: unknown) => fault));
    }
    expect(heard).toHaveLength(10);
    expect(dump(heard)).not.toContain(OWN);
    expect(dump(heard)).not.toContain(Buffer.from(`u:${OWN}`).toString('base64').slice(4, -4));
    expect(dump(heard)).toContain('no: [redacted]');
  });

  test.each([400, 404, 429, 500])(
    'nor does the body of a refusal with status %d, its causes included',
    async (status) => {
      await using web = await startWeb(({ message, headers }, response) => {
        if (message.method !== 'tools/call') return false;
        const error = {
          code: -32050,
          message: `bad ${headers['x-api-key']}`,
          data: { sent: headers['x-api-key'] },
        };
        response.writeHead(status, { 'content-type': 'application/json' });
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
      });
      await using far = await open({
        type: 'http',
        url: web.url,
        era: 'legacy',
        headers: { 'x-api-key': OWN },
      });
      const fault = await far.connection.callTool('t', {}).catch((it: unknown) => it);
      expect(fault).toBeInstanceOf(Error);
      expect(dump(fault)).not.toContain(OWN);
    },
  );
});

describe('credentials', () => {
  const KEY = 'k3y-zq81-7741-value';
  const RANDOM = 'Zm9vYmFyQmF6MTIzNDU2Nzg5MGFiYw';

  test.each<[string, object, string[]]>([
    ['a variable named as a credential', { env: { MY_API_KEY: KEY } }, [KEY]],
    ['a password', { env: { PGPASSWORD: KEY } }, [KEY]],
    ['a header', { headers: { Authorization: `Bearer ${KEY}` } }, [`Bearer ${KEY}`]],
    ['a header of its own kind', { headers: { 'X-Api-Key': KEY } }, [KEY]],
    [
      'what Basic authentication encodes',
      { headers: { authorization: `Basic ${btoa(`me:${KEY}`)}` } },
      [`Basic ${btoa(`me:${KEY}`)}`, `me:${KEY}`, KEY],
    ],
    ['the token of an editor', { authToken: 'x'.repeat(8) }, ['x'.repeat(8)]],
    ['a generated value under any name', { env: { THING: RANDOM } }, [RANDOM]],
    [
      'a known form of key under any name',
      { env: { THING: 'ghp_0123456789abcdef' } },
      ['ghp_0123456789abcdef'],
    ],
    ['the password of a URL', { env: { DATABASE: `postgres://me:${KEY}@db:5432/x` } }, [KEY]],
    ['a parameter of the URL', { url: `https://x.example/mcp?profile=dev&api_key=${KEY}` }, [KEY]],
    ['a flag and its value', { args: ['--verbose', '--api-token', KEY, 'serve'] }, [KEY]],
    ['a flag with its value', { args: [`--token=${KEY}`] }, [KEY]],
    ['a variable for a container', { args: ['run', '-e', `API_KEY=${KEY}`, 'image'] }, [KEY]],
    ['a header for a bridge', { args: ['--header', `Authorization: Bearer ${KEY}`] }, [`Bearer ${KEY}`]],
  ])('%s is a credential', (_, entry, expected) => {
    expect(credentialsOf(entry)).toEqual(expect.arrayContaining(expected));
  });

  test.each<[string, object]>([
    ['a mode', { env: { NODE_ENV: 'production', LOG_LEVEL: 'verbose', DEBUG: 'enabled' } }],
    ['a place', { env: { HOME_DIR: '/home/someone/projects', HOST: 'localhost:8080', PORT: '123456' } }],
    ['a model', { env: { MODEL: 'claude-sonnet-4-5-20250929', REGION: 'eu-central-1' } }],
    [
      'an identifier',
      { env: { PROJECT_ID: '0b1c2d3e-1111-2222-3333-444455556666', GIT_SHA: 'a'.repeat(40) } },
    ],
    ['a limit', { env: { MAX_TOKENS: '128000', TOKEN_LIMIT: '200000' } }],
    [
      'a file that holds one',
      { env: { TOKEN_FILE: '/run/secrets/token', AUTH_KEY: '/etc/keys/server.pem' } },
    ],
    ['how to sign in', { env: { AUTH_MODE: 'interactive', AUTH_URL: 'https://login.example.com/oauth2' } }],
    [
      'a prefix or a name of a key',
      {
        env: {
          REDIS_KEY_PREFIX: 'session',
          PRIMARY_KEY: 'customer_id',
          SORT_KEY: 'created_at',
          AUTH_REALM: 'customers',
          AUTH_USER: 'reader',
          OAUTH_AUDIENCE: 'reports',
          AUTH_ENABLED: 'always',
          TOKEN_HEADER: 'X-Request',
        },
      },
    ],
    ['a header without one', { headers: { Accept: 'application/json', 'User-Agent': 'toolplane/1.0' } }],
    ['an address', { url: 'https://mcp.example.com/v1/mcp?profile=development' }],
    [
      'a command line',
      { args: ['-y', '@scope/some-server@1.2.3', '--directory', '/srv/data', '--port=8080'] },
    ],
    [
      'keyboards and keywords',
      { env: { KEYBOARD_LAYOUT: 'dvorak', KEYWORDS: 'alpha,beta', PASSIVE: 'enabled' } },
    ],
  ])('%s is none', (_, entry) => {
    const message = { result: { text: JSON.stringify(entry) } };
    expect(new SecretMask([], credentialsOf(entry)).maskMessage(message)).toBe(message);
  });

  test.each(['postgres', 'password', 'changeme', 'secret', 'object', '123456'])(
    'a password that is a common word is not masked everywhere: %s',
    (word) => {
      const message = { result: { description: `Ask a ${word} database`, type: word } };
      expect(new SecretMask([word], [word]).maskMessage(message)).toBe(message);
    },
  );
});

describe('escapes', () => {
  const code = (it: string) => it.charCodeAt(0);
  const ESCAPES: readonly ((it: string) => string)[] = [
    (it) => it,
    (it) => `\\u${code(it).toString(16).padStart(4, '0')}`,
    (it) => `\\u${code(it).toString(16).padStart(4, '0').toUpperCase()}`,
    (it) => `\\x${code(it).toString(16).padStart(2, '0')}`,
    (it) => `%${code(it).toString(16).padStart(2, '0')}`,
    (it) => `&#${code(it)};`,
    (it) => `&#x${code(it).toString(16)};`,
  ];

  /** Printable ASCII without the characters that begin an escape. */
  const letters = fc.string({
    unit: fc.constantFrom(..."abcXYZ0189 -_.:/+='<>()[]{}!?*~$@^|,"),
    minLength: 6,
    maxLength: 40,
  });
  const choices = fc.array(fc.constantFrom(...ESCAPES), { minLength: 40, maxLength: 40 });

  describe('values are replaced however they are escaped', () => {
    test('each character in a way of its own, and nothing around them', () => {
      fc.assert(
        fc.property(letters, choices, (value, ways) => {
          const written = [...value].map((it, at) => ways[at]?.(it) ?? it).join('');
          const text = `\\u0041%42 <${written}> &amp;\\/`;
          fc.pre(written !== value && !'A B <> &/'.includes(value));
          expect(replaceEscaped(text, [value], '*')).toBe('\\u0041%42 <*> &amp;\\/');
        }),
      );
    });

    test('other text is unchanged', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme' }), (text) => {
          expect(replaceEscaped(text, ['k3y-that-is-nowhere'], '*')).toBe(text);
        }),
      );
    });

    test.each([
      ['values side by side', '%61bcdef%61bcdef', ['abcdef'], '**'],
      ['values that overlap', '%61bcdefgh', ['abcdef', 'cdefgh'], '*'],
      [
        'three times over',
        encodeURIComponent(encodeURIComponent(encodeURIComponent('a/bcdef'))),
        ['a/bcdef'],
        '*',
      ],
      ['characters of several bytes', '%c3%a9t%C3%A9-%F0%9F%98%80', ['été-😀'], '*'],
      ['an escape that is cut', 'abcde%6', ['abcdef'], 'abcde%6'],
    ])('%s', (_, text, values, expected) => {
      expect(replaceEscaped(text, values, '*')).toBe(expected);
    });
  });
});
