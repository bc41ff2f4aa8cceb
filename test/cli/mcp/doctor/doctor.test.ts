import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ConfigPlace, configPlace } from '../../../config/config-place.ts';
import { makeCertificates } from '../../../mcp/support/certificates.ts';
import { startWeb } from '../../../mcp/transports/http/support/web.ts';
import { CLI } from '../../../support/setup/built-package.ts';
import { fixture, runCli } from '../../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../../support/terminal-process.ts';

const docs = { command: process.execPath, args: [CLI, 'serve', fixture('docs.ts'), '--export', 'docs'] };
const script = (code: string) => ({ command: process.execPath, args: ['-e', code] });

type Document = {
  files: {
    name: string;
    level: string;
    findings: { check: string; level: string; text: string; fix?: string }[];
  }[];
  servers: Document['files'];
  broken: number;
  warnings: number;
  waiting: number;
};

function settings(place: ConfigPlace, value: object): void {
  chmodSync(place.write(join(place.home, 'settings.json'), value), 0o600);
}

async function doctor(place: ConfigPlace, ...args: string[]) {
  return runCli(['mcp', 'doctor', ...args], '', { cwd: place.project, env: place.env });
}

async function examine(
  place: ConfigPlace,
  ...names: string[]
): Promise<{ code: number; document: Document }> {
  const { code, stdout } = await doctor(place, '--json', ...names);
  return { code, document: JSON.parse(stdout) as Document };
}

test('reports each kind of failure with a fix; other servers are unaffected', async () => {
  const place = configPlace();
  const certificates = await makeCertificates();
  const { server } = certificates;
  await using closed = await startWeb((_, response) => response.writeHead(401).end());
  await using selfSigned = await startWeb(undefined, { cert: server.cert, key: server.key });
  await using _gone = { [Symbol.asyncDispose]: () => certificates[Symbol.asyncDispose]() };
  settings(place, {
    mcpServers: {
      docs,
      missing: { command: 'uvx', args: ['x'] },
      dies: script("console.error('boom: no database'); process.exit(3)"),
      closed: { type: 'http', url: closed.url },
      tls: { type: 'http', url: selfSigned.url },
      refused: { type: 'http', url: 'http://127.0.0.1:1/mcp' },
      unset: { type: 'http', url: 'https://x.example/', headers: { A: '${TOOLPLANE_UNSET}' } },
      bad: { type: 'carrier-pigeon' },
    },
  });
  const { code, document } = await examine({ ...place, env: { ...place.env, PATH: '/nonexistent' } });
  const worst = Object.fromEntries(
    document.servers.map(({ name, findings }) => [name, findings.find(({ level }) => level !== 'ok')]),
  );
  expect(worst).toEqual({
    bad: expect.objectContaining({
      check: 'broken',
      fix: expect.stringMatching(
        /^fix the entry at .*, or remove it: toolplane mcp remove bad --scope user$/,
      ),
    }),
    closed: expect.objectContaining({
      check: 'auth',
      text: expect.stringContaining('"headers"'),
      fix: 'toolplane mcp login closed',
    }),
    dies: expect.objectContaining({ check: 'handshake', text: expect.stringContaining('boom: no database') }),
    docs: undefined,
    missing: expect.objectContaining({ check: 'command', fix: expect.stringContaining('install uv') }),
    refused: expect.objectContaining({ check: 'address', text: expect.stringContaining('ECONNREFUSED') }),
    tls: expect.objectContaining({ check: 'tls', fix: expect.stringContaining('tls.ca') }),
    unset: expect.objectContaining({
      check: 'expansion',
      fix: expect.stringContaining('export TOOLPLANE_UNSET='),
    }),
  });
  expect(document.files[0]?.findings).toEqual([
    { check: 'entries', level: 'error', text: 'broken entries (see the servers below): bad' },
  ]);
  expect(document).toMatchObject({ broken: 8, waiting: 0 });
  expect(document.servers.find(({ name }) => name === 'docs')).toMatchObject({
    level: 'ok',
    tools: 1,
    tokens: expect.any(Number),
    ms: expect.any(Number),
  });
  expect(code).toBe(1);
});

test('accepts a certificate of a CA in the entry; invalid tools are only a warning', async () => {
  const place = configPlace();
  const certificates = await makeCertificates();
  await using secure = await startWeb(undefined, {
    cert: certificates.server.cert,
    key: certificates.server.key,
  });
  await using _gone = { [Symbol.asyncDispose]: () => certificates[Symbol.asyncDispose]() };
  settings(place, {
    mcpServers: { secure: { type: 'http', url: secure.url, tls: { ca: certificates.ca } } },
  });
  const { code, document } = await examine(place);
  expect(document.servers[0]?.findings.map(({ check, level }) => [check, level])).toEqual([
    ['handshake', 'ok'],
    ['tools', 'warning'],
  ]);
  expect(code).toBe(0);
});

test('reports a server that is pending approval without starting it, with exit code 0 (R169)', async () => {
  const place = configPlace();
  const mark = join(place.project, 'started');
  const evil = script(`require('fs').writeFileSync(${JSON.stringify(mark)}, '')`);
  place.write(join(place.project, '.mcp.json'), { mcpServers: { evil } });
  const { code, stdout } = await doctor(place);
  expect(stdout).toMatch(/^ {2}⏸ evil$/m);
  expect(stdout).toContain('toolplane mcp approve evil');
  expect(stdout).toContain('1 file and 1 server checked: 1 waiting for your decision.');
  expect(existsSync(mark)).toBe(false);
  expect(code).toBe(0);
});

test('an unreadable file is an error, secrets that others can read are a warning, no secret is printed', async () => {
  const place = configPlace();
  execFileSync('git', ['init', '-q', place.project]);
  const secret = { command: 'x', env: { API_TOKEN: 'sesame-open-now' } };
  place.write(join(place.project, '.mcp.json'), { mcpServers: { s: secret } });
  execFileSync('git', ['-C', place.project, 'add', '.mcp.json']);
  chmodSync(place.write(join(place.home, 'settings.json'), { mcpServers: { s: secret } }), 0o644);
  chmodSync(place.write(join(place.home, 'secrets.json'), { version: 1, secrets: {} }), 0o644);
  place.write(join(place.project, '.toolplane/settings.local.json'), '{ "mcpServers": ');
  const { code, document } = await examine(place);
  expect(
    document.files.map(({ name, level, findings }) => [name, level, findings.map((it) => it.check)]),
  ).toEqual([
    ['~/.toolplane/settings.json', 'warning', ['mode']],
    ['.mcp.json', 'warning', ['secrets']],
    ['.toolplane/settings.local.json', 'error', ['file']],
    [join(place.home, 'secrets.json'), 'error', ['secrets']],
  ]);
  const text = JSON.stringify(document);
  expect(text).toContain(`chmod 600 ${join(place.home, 'settings.json')}`);
  expect(text).toContain('is tracked by git');
  expect(text).not.toContain('sesame');
  expect(code).toBe(1);
});

test('asks git about files without running commands of the repository', async () => {
  const place = configPlace();
  const proof = join(place.userHome, 'it-ran');
  execFileSync('git', ['init', '-q', place.project]);
  execFileSync('git', ['-C', place.project, 'config', 'core.fsmonitor', `touch '${proof}'; false`]);
  const secret = { command: 'x', env: { API_TOKEN: 'sesame-open-now' } };
  place.write(join(place.project, '.mcp.json'), { mcpServers: { s: secret } });
  execFileSync('git', ['-c', 'core.fsmonitor=false', '-C', place.project, 'add', '.mcp.json']);
  const { document } = await examine(place);
  expect(JSON.stringify(document)).toContain('is tracked by git');
  expect(existsSync(proof)).toBe(false);
});

test('names a missing environment variable and the edit that adds it', async () => {
  const place = configPlace();
  const needy = script(`
    if (!process.env.WEATHER_API_KEY) throw new Error('WEATHER_API_KEY is not set');
  `);
  settings(place, { mcpServers: { weather: needy } });
  const fixOf = async (more: Record<string, string>) => {
    const env = { ...place.env, PATH: process.env.PATH ?? '', ...more };
    const { stdout } = await runCli(['mcp', 'doctor', '--json'], '', { cwd: place.project, env });
    return JSON.parse(stdout).servers[0].findings.at(-1);
  };
  expect(await fixOf({ WEATHER_API_KEY: 'k' })).toMatchObject({
    level: 'error',
    text: expect.stringContaining('WEATHER_API_KEY is set in your environment'),
    fix: 'add "env": { "WEATHER_API_KEY": "${WEATHER_API_KEY}" } at ~/.toolplane/settings.json:3:5 (the same as -e WEATHER_API_KEY=\'${WEATHER_API_KEY}\' of toolplane mcp add)',
  });
  expect(await fixOf({})).toMatchObject({ fix: expect.stringContaining('-e WEATHER_API_KEY=…') });
}, 60_000);

test('checks only the named servers; an unknown name is exit code 2', async () => {
  const place = configPlace();
  settings(place, { mcpServers: { docs, dies: script('process.exit(3)') } });
  const { code, stdout } = await doctor(place, 'docs');
  expect(stdout).toMatch(/^ {2}✓ docs {2}connected in \d+\.\d s, 1 tool, about \d+ tokens; docs /m);
  expect(stdout).not.toContain('dies');
  expect(code).toBe(0);
  const unknown = await doctor(place, 'doks', '--json');
  expect(JSON.parse(unknown.stdout)).toMatchObject({
    error: { message: expect.stringContaining('did you mean "docs"?') },
  });
  expect(unknown.code).toBe(2);
});

test('output of a server contains no escape sequences and no secrets', async () => {
  const place = configPlace();
  const dies = script("console.error('\\u001b[31mred ' + process.env.API_TOKEN); process.exit(3)");
  settings(place, { mcpServers: { dies: { ...dies, env: { API_TOKEN: 'sesame-open-now' } } } });
  const { stdout } = await doctor(place);
  expect(stdout).toContain('red [redacted]');
  expect(stdout).not.toContain('\u001b');
});

test.runIf(hasScript)('prints colors on a terminal unless NO_COLOR is set', async () => {
  const place = configPlace();
  settings(place, {});
  const plain = new TerminalProcess(['mcp', 'doctor'], { ...place.env, NO_COLOR: '1' });
  const coloured = new TerminalProcess(['mcp', 'doctor'], place.env);
  expect(await plain.until('checked')).not.toContain('\u001b[32m');
  expect(await coloured.until('checked')).toContain('\u001b[32m✓\u001b[39m');
});

test('reports non-protocol output on stdout with a fix', async () => {
  const place = configPlace();
  const banner = 'Docs server v1 is ready';
  const args = [
    '-e',
    `console.log(${JSON.stringify(banner)}); import(${JSON.stringify(docs.args[0])})`,
    ...docs.args,
  ];
  settings(place, { mcpServers: { docs: { command: process.execPath, args: args.toSpliced(2, 0, '--') } } });
  const { code, document } = await examine(place);
  expect(code).toBe(0);
  expect(document.servers[0]?.findings).toContainEqual({
    check: 'stdout',
    level: 'warning',
    text: `non-protocol output on stdout: ${banner}`,
    fix: "have the server log to stderr instead, or report this to the server's author",
  });
});
