import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MIN_NODE, nodeVersionError, VERSION } from '../../src/entry/version.ts';
import { CLI_ENV } from '../cli/support/run-cli.ts';
import { CLI } from '../support/setup/built-package.ts';

describe('version', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };

  test('the version is the package’s', () => {
    expect(VERSION).toBe(manifest.version);
  });

  test('tests run on the pinned Node, whatever is on PATH', () => {
    expect(process.version).toMatch(/^v24\./);
  });
});

describe('node version', () => {
  const source = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const textOf = (path: string) => readFileSync(source(path), 'utf8');

  test('engines, the agent executable and the docs name the same minimum Node version', () => {
    expect(JSON.parse(textOf('package.json')).engines.node).toBe(`>=${MIN_NODE}`);
    const [major, minor] = MIN_NODE.split('.');
    expect(textOf('bin/toolplane-agent')).toContain(
      `[ "$major" -gt ${major} ] || { [ "$major" -eq ${major} ] && [ "$minor" -ge ${minor} ]; }`,
    );
    for (const page of ['README.md', 'docs/quick-start.md'])
      expect(textOf(page)).toContain(`Node ${MIN_NODE} or newer`);
  });

  test.each([
    '22.19.0',
    '22.20.0',
    '22.100.1',
    '23.0.0',
    '24.21.0',
    '26.0.0-nightly20261101abcdef',
    '100.0.0',
  ])('Node %s can run it', (node) => {
    expect(nodeVersionError({ node })).toBeUndefined();
  });

  test.each(['22.18.0', '22.9.1', '22.0.0', '20.20.2', '18.20.8', '9.0.0', '0.12.18', '21.99.0'])(
    'Node %s is too old',
    (node) => {
      expect(nodeVersionError({ node })).toMatch(
        new RegExp(
          `^toolplane needs Node ≥ 22\\.19, found ${node.replaceAll('.', '\\.')}: install a newer Node`,
        ),
      );
    },
  );

  test.each([{ node: '18.0.0', bun: '1.0.0' }, { node: '18.0.0', deno: '2.0.0' }, {}])(
    'other runtimes are not checked: %j',
    (versions) => {
      expect(nodeVersionError(versions)).toBeUndefined();
    },
  );

  /** Runs a program on this Node, which reports version 20.20.2 and lacks a function of later versions. */
  async function onOldNode(args: readonly string[]) {
    const directory = await mkdtemp(join(tmpdir(), 'toolplane-old-node-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const preload = join(directory, 'old.cjs');
    const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });`;
    await writeFile(preload, `${versions}\ndelete Promise.withResolvers;\n`);
    const options = { encoding: 'utf8', env: CLI_ENV } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', preload, ...args], options);
    return { code: status, stdout, stderr };
  }

  const MESSAGE = nodeVersionError({ node: '20.20.2' });

  test.each([[], ['--help'], ['--version'], ['mcp', 'list'], ['run', 'hello'], ['agent'], ['serve', 'x.ts']])(
    'toolplane %s %s on an old Node: one line that names both versions, exit code 1',
    async (...args) => {
      expect(await onOldNode([CLI, ...args])).toEqual({ code: 1, stdout: '', stderr: `${MESSAGE}\n` });
    },
  );

  test('with --json it is a document too', async () => {
    const { code, stdout } = await onOldNode([CLI, 'tools', '--json']);
    expect({ code, document: JSON.parse(stdout) }).toEqual({
      code: 1,
      document: { error: { message: MESSAGE } },
    });
  });

  test.each(['index', 'host', 'testing'])(
    'import of the entry point %s on an old Node throws it',
    async (entry) => {
      const program = `await import(${JSON.stringify(source(`src/entry/${entry}.ts`))}).catch((error) => console.log(error.message))`;
      const { stdout } = await onOldNode(['--input-type=module', '-e', program]);
      expect(stdout).toBe(`${MESSAGE}\n`);
    },
  );

  test('modules before the check run on Node 12', () => {
    const files = new Set(['src/cli/main.ts']);
    for (const file of files) {
      const code = textOf(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
      for (const [, path = ''] of code.matchAll(/^import .* from '(.*)';$/gm)) {
        expect(path).toMatch(/^\./);
        files.add(posix.join(posix.dirname(file), path));
      }
      // Optional chaining, ??, logical assignment, private members, static blocks, top-level await, `using`, big literals.
      expect(code).not.toMatch(
        /\?\.|\?\?|\|\|=|&&=|\B#(?!!)\w|static \{|^(?:const .*= )?await\b|\busing\b|\d_\d|\.at\(|replaceAll/m,
      );
    }
  });
});
