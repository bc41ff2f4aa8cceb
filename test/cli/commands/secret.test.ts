import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listSecrets, secretTable } from '../../../src/cli/commands/secret.ts';
import { openSecretStore } from '../../../src/config/secrets/secret-store.ts';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';
import { leakingServer } from '../../mcp/support/raw-servers.ts';
import { config } from '../support/real-servers.ts';
import { runCli } from '../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../support/terminal-process.ts';

describe('secret', () => {
  const SECRET = 'sesame-opens-12345';

  const run = (place: ConfigPlace, args: readonly string[], input = '') =>
    runCli(['secret', ...args], input, { cwd: place.project, env: place.env });
  const fileOf = (place: ConfigPlace) => join(place.home, 'secrets.enc');
  const keptIn = (place: ConfigPlace) => {
    const store = openSecretStore(place.world());
    return Object.fromEntries(store.names().map((name) => [name, store.get(name)]));
  };

  test('sets a secret from a pipe, lists its name only, replaces and removes it', async () => {
    const place = configPlace();
    const added = await run(place, ['set', 'github'], `${SECRET}\n`);
    expect(added).toEqual({
      code: 0,
      stdout: `added secret github in ${fileOf(place)}; refer to it as \${secret:github}\n`,
      stderr: '',
    });
    expect(keptIn(place)).toEqual({ github: SECRET });
    expect(statSync(fileOf(place)).mode & 0o777).toBe(0o600);
    expect(statSync(place.home).mode & 0o777).toBe(0o700);
    const listed = await run(place, ['list']);
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^secret +used by\ngithub +\S/) });
    expect(JSON.stringify([added, listed])).not.toContain(SECRET);
    const replaced = await run(place, ['set', 'github', '--json'], 'two\nlines\n\n');
    expect(JSON.parse(replaced.stdout)).toEqual({ secret: 'github', done: 'replaced' });
    expect(keptIn(place)).toEqual({ github: 'two\nlines\n' });
    expect(await run(place, ['remove', 'github'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^removed/),
    });
    expect(keptIn(place)).toEqual({});
    expect(JSON.parse((await run(place, ['--json'])).stdout)).toMatchObject({ secrets: [] });
  });

  test.each([
    ['a value as a word', ['set', 'a', SECRET], 'not accepted on the command line'],
    ['a value after =', ['set', `a=${SECRET}`], 'not accepted on the command line'],
    ['a name that can be none', ['set', 'a/b'], 'the name of a secret must have 1 to 128 letters'],
    ['an unknown action', ['sett', 'a'], 'did you mean set?'],
  ])('%s is refused and not repeated in the message', async (_, args, fault) => {
    const place = configPlace();
    const refused = await run(place, args, 'x');
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(fault) });
    expect(refused.stderr).not.toContain(SECRET);
    expect(existsSync(fileOf(place))).toBe(false);
  });

  test.each<[string, string | Buffer, string]>([
    ['nothing', '\n', 'is empty'],
    ['what is no text', Buffer.from([0x66, 0xff, 0xfe]), 'not valid UTF-8'],
  ])('%s is refused as a value', async (_, input, fault) => {
    const place = configPlace();
    const failed = await run(place, ['set', 'a', '--json'], input as string);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining(fault) });
    expect(JSON.parse(failed.stdout)).toEqual({
      error: { message: expect.stringContaining(fault), code: 'bad-config' },
    });
    expect(existsSync(fileOf(place))).toBe(false);
  });

  test('lists the servers that use each secret, and missing secrets', async () => {
    const place = configPlace();
    const headers = { Authorization: 'Bearer ${secret:github}', 'X-Key': '${secret:other}' };
    place.write(join(place.home, 'settings.json'), {
      mcpServers: {
        web: { type: 'http', url: 'https://example.test/mcp', headers },
        files: { command: 'x', args: ['${secret:github}'] },
      },
    });
    await run(place, ['set', 'github'], SECRET);
    expect(await run(place, ['list'])).toEqual({
      code: 0,
      stdout: 'secret  used by\ngithub  files, web\n',
      stderr: 'toolplane: secret other is not set but used by web; run "toolplane secret set other"\n',
    });
  });

  test('an unknown secret is refused with a suggestion', async () => {
    const place = configPlace();
    await run(place, ['set', 'github'], SECRET);
    expect(await run(place, ['remove', 'gihtub'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'toolplane: unknown secret "gihtub"; did you mean "github"? (known: github)\n',
    });
  });

  test('refuses a secrets file that others can read and names the fix', async () => {
    const place = configPlace();
    await run(place, ['set', 'a'], SECRET);
    chmodSync(fileOf(place), 0o640);
    for (const args of [['list'], ['set', 'b']]) {
      expect(await run(place, args, 'x')).toEqual({
        code: 1,
        stdout: '',
        stderr: `toolplane: cannot use the secrets in ${fileOf(place)}: other users can read the file; run: chmod 600 ${fileOf(place)}\n`,
      });
    }
    chmodSync(fileOf(place), 0o600);
    expect(keptIn(place)).toEqual({ a: SECRET });
  });

  describe.runIf(hasScript)('in a terminal', () => {
    test('typed input is not echoed', async () => {
      const place = configPlace();
      const terminal = new TerminalProcess(['secret', 'set', 'github'], place.env);
      await terminal.until('(input is hidden): ');
      terminal.type(`${SECRET}x\u007f\r`);
      const shown = await terminal.until('${secret:github}');
      await terminal.closed;
      expect(shown).toContain('added secret github');
      expect(shown).not.toContain(SECRET.slice(0, 6));
      expect(keptIn(place)).toEqual({ github: SECRET });
    });

    test('Ctrl-C changes nothing', async () => {
      const place = configPlace();
      const terminal = new TerminalProcess(['secret', 'set', 'github'], place.env);
      await terminal.until('(input is hidden): ');
      terminal.type(`${SECRET}\u0003`);
      expect(await terminal.until('was not changed: the input was cancelled')).not.toContain(SECRET);
      expect(await terminal.closed).toEqual([130, null]);
      expect(existsSync(fileOf(place))).toBe(false);
    });
  });
});

describe('secret list', () => {
  const ENTRIES: [string, object][] = [
    ['web', { url: 'https://example.test', headers: { A: '${secret:b}', B: '${X:-${secret:new}}' } }],
    [
      'files',
      { command: 'x', args: ['${secret:b}', '$${secret:a}', '${secret:'], env: { A: '${secret:b}' } },
    ],
  ];

  test('lists secrets with the servers that use them, and missing ones', () => {
    expect(listSecrets(['b', 'a'], ENTRIES)).toEqual({
      secrets: [
        { name: 'a', servers: [] },
        { name: 'b', servers: ['files', 'web'] },
      ],
      missing: [{ name: 'new', servers: ['web'] }],
    });
  });

  test('the table has one row per secret', () => {
    const list = listSecrets(['b', 'a'], ENTRIES);
    expect(secretTable(list, undefined, 'known')).toEqual([
      'secret  used by',
      'a       no server',
      'b       files, web',
    ]);
    expect(secretTable(list, undefined, 'unknown')[1]).toBe('a       ?');
  });
});

describe('secret leaks', () => {
  const SECRET = 'zq81-my-own-words-7741';

  test('no command prints or stores a secret that a server repeats', async () => {
    const home = mkdtempSync(join(tmpdir(), 'toolplane-leaks-'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    const run = (args: string[], input = '') =>
      runCli(args, input, { cwd: home, env: { TOOLPLANE_HOME: join(home, 'own'), HOME: home } });
    await run(['secret', 'set', 'KEY'], SECRET);
    const servers = [
      '--mcp-config',
      config({ srv: { ...leakingServer, env: { SERVICE_TOKEN: '${secret:KEY}' } } }),
    ];
    const outputs = [
      await run(['tools', ...servers, '--json']),
      await run(['call', ...servers, 'srv', 't', '--json']),
      await run(['call', ...servers, 'srv', 'fail']),
      await run(['run', '--model', 'rehearsal', '-o', 'stream-json', '--debug', ...servers, 'hello']),
    ];
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(SECRET);
    expect(outputs[0]).toMatchObject({ code: 0, stdout: expect.stringContaining('[redacted]') });
    const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(home, name)).isFile(),
    );
    const holding = files.filter((name) => readFileSync(join(home, name), 'utf8').includes(SECRET));
    expect(files.filter((name) => /cache|pins/.test(name))).not.toEqual([]);
    expect(holding).toEqual([]);
  });
});
