import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildIfStale } from '../../scripts/fresh-build.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** The folders whose code is found by its own location, the peers and the bundled sources; a link would lead back to this checkout. */
const COPIED = ['src', 'scripts', 'bench', 'chaos', 'conformance', 'interop', 'examples'];

/** A checkout after `npm ci` and `npm run build`. */
const root = mkdtempSync(join(tmpdir(), 'toolplane-peers-'));
const log = join(root, 'npm-calls');
const peers = join(root, 'interop/node_modules');

beforeAll(() => {
  if (!buildIfStale()) throw new Error('the package cannot be built');
  for (const folder of COPIED) {
    const filter = (source: string) => !source.endsWith('/node_modules');
    cpSync(join(ROOT, folder), join(root, folder), { recursive: true, filter });
  }
  cpSync(join(ROOT, 'package.json'), join(root, 'package.json'));
  for (const linked of ['test', 'node_modules', 'data', 'tsconfig.json', 'tsconfig.build.json']) {
    symlinkSync(join(ROOT, linked), join(root, linked));
  }
  mkdirSync(join(root, 'bin'));
  // Last, so that it is not older than the copied sources.
  cpSync(join(ROOT, 'dist'), join(root, 'dist'), { recursive: true });
}, 120_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The checkout without the peers, and with an `npm` that records its calls and then does `then`. */
function checkout(then: string) {
  for (const left of [log, peers]) rmSync(left, { recursive: true, force: true });
  const npm = `#!/bin/sh\necho "$(pwd) $*" >> '${log}'\necho 'npm talks on stdout'\n${then}\n`;
  writeFileSync(join(root, 'bin/npm'), npm, { mode: 0o755 });
  return {
    calls: () => readFileSync(log, 'utf8'),
    installs: `${join(root, 'interop')} ci --no-audit --no-fund\n`,
    run(script: string, args: readonly string[] = []) {
      const [node, file = ''] = (scripts[script] ?? '').split(' ');
      expect(node).toBe('node');
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, file), ...args], {
        cwd: root,
        encoding: 'utf8',
        env: {
          PATH: [join(root, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
          HOME: root,
          ANTHROPIC_API_KEY: 'none',
          NODE_COMPILE_CACHE: join(root, 'compiled'),
        },
      });
      return { status, stdout, stderr };
    },
  };
}

test.each([
  ['bench', ['--json']],
  ['chaos', ['--json']],
  ['conformance', ['--json']],
  ['interop', ['--json']],
  ['examples', []],
  ['live', []],
  ['check', []],
])('npm run %s installs the peers first, and ends with 1 if that fails', (script, args) => {
  const { calls, installs, run } = checkout('exit 1');
  const { status, stdout, stderr } = run(script, args);
  expect({ status, stdout, calls: calls() }).toEqual({ status: 1, stdout: '', calls: installs });
  expect(stderr).toMatch(/npm talks on stdout\n✗ install peers\n$/);
});

test.each([
  ['bench', ['--json', '--quick', '--only', 'config']],
  ['chaos', ['--json', '--quick', '--ours', '--only', 'crash-mid-call']],
  ['conformance', ['--json', '--only', 'server-2025-11-25']],
  ['interop', ['--json', '--only', 'handler-throws']],
])('npm run %s %j: with peers just installed, stdout is one JSON document', (script, args) => {
  const { calls, installs, run } = checkout(`ln -s '${join(ROOT, 'interop/node_modules')}' node_modules`);
  const { stdout } = run(script, args);
  expect(calls()).toBe(installs);
  expect(JSON.parse(stdout)).not.toHaveLength(0);
});

test('an unknown name is refused before anything is installed', () => {
  const { calls, run } = checkout('exit 1');
  for (const script of ['bench', 'chaos', 'conformance']) {
    expect(run(script, ['--only', 'no-such-name'])).toMatchObject({ status: 2, stdout: '' });
  }
  expect(calls).toThrow('ENOENT');
});
