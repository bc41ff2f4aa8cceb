import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { leakingServer } from '../mcp/support/raw-servers.ts';
import { config } from './host/real-servers.ts';
import { runCli } from './run-cli.ts';

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
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.endsWith('secrets.json') && statSync(join(home, name)).isFile(),
  );
  const holding = files.filter((name) => readFileSync(join(home, name), 'utf8').includes(SECRET));
  expect(files.filter((name) => /cache|pins/.test(name))).not.toEqual([]);
  expect(holding).toEqual([]);
});
