import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AGENT } from '../../../support/setup/built-package.ts';

/** A fake Node of this version that prints its arguments. */
const fakeNode = (version: string) => `#!/bin/sh
if [ "$1" = --version ]; then echo ${version}; else echo "${version}: $*"; fi
`;

/** A temporary directory with the published package and these files. */
async function place(nodes: Record<string, string> = {}, main = 'dist/cli/main.js') {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'agent-executable-')));
  onTestFinished(() => rm(root, { recursive: true }));
  const agent = join(root, 'node_modules/toolplane/bin/toolplane-agent');
  await write(join(root, 'node_modules/toolplane', main), '');
  await mkdir(dirname(agent), { recursive: true });
  await cp(AGENT, agent);
  for (const [path, version] of Object.entries(nodes)) {
    const file = join(root, path);
    await write(file, fakeNode(version));
    await chmod(file, 0o755);
  }
  return { root, agent };
}

async function write(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

/** Without `PATH`, neither Node nor other tools are found. */
async function run(file: string, env: Record<string, string>, args: string[] = ['--model', 'a b']) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(file, args, { env: { HOME: '/nowhere', PATH: '', ...env } }, (error, stdout, stderr) => {
      resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr });
    });
  });
}

const USUAL_PLACES = ['/usr/local/bin/node', '/opt/homebrew/bin/node', '/usr/bin/node'];

/** A copy of the executable that searches machine-wide places below `root`. */
async function confine(agent: string, root: string): Promise<void> {
  let script = await readFile(agent, 'utf8');
  for (const path of USUAL_PLACES) {
    expect(script.split(` ${path}`)).toHaveLength(2);
    script = script.replace(` ${path}`, ` '${root}${path}'`);
  }
  await writeFile(agent, script);
}

test('package.json names the executable', async () => {
  const { bin, files } = JSON.parse(await readFile(join(dirname(AGENT), '../package.json'), 'utf8'));
  expect(bin['toolplane-agent']).toBe('bin/toolplane-agent');
  expect(files).toContain('bin');
});

test('skips an old Node on the PATH for a newer one after it', async () => {
  const { root, agent } = await place({ 'old/node': 'v18.20.0', 'new/node': 'v22.19.0' });
  const PATH = `${root}/old:${root}/new`;
  const main = join(root, 'node_modules/toolplane/dist/cli/main.js');
  expect(await run(agent, { PATH })).toEqual({
    code: 0,
    stdout: `v22.19.0: ${main} agent --model a b\n`,
    stderr: '',
  });
});

test.each(USUAL_PLACES)('with only old versions on the PATH, searches %s', async (path) => {
  const { root, agent } = await place({ 'old/node': 'v18.20.0', [path]: 'v22.19.0' });
  await confine(agent, root);
  expect((await run(agent, { PATH: join(root, 'old') })).stdout).toMatch(/^v22\.19\.0: /);
});

test('with only old versions, prints one line with the remedy and exits with 1', async () => {
  const { root, agent } = await place({
    'old/node': 'v18.20.0',
    'odd/node': 'what?',
    'near/node': 'v22.18.9',
    '/usr/bin/node': 'v20.20.2',
  });
  await confine(agent, root);
  const PATH = ['old', 'odd', 'near'].map((it) => join(root, it)).join(':');
  expect(await run(agent, { PATH })).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'toolplane-agent: no Node of version 22.19 or newer was found: install one, or set TOOLPLANE_NODE to its path\n',
  });
});

test.each([
  ['the package beside it', 'node_modules/node/bin/node'],
  ['a package of its own', 'node_modules/toolplane/node_modules/node/bin/node'],
])('prefers the node package to the PATH: %s', async (_, path) => {
  const { root, agent } = await place({ [path]: 'v24.0.0', 'path/node': 'v23.0.0' });
  expect((await run(agent, { PATH: `${root}/path` })).stdout).toMatch(/^v24\.0\.0: /);
});

test('TOOLPLANE_NODE takes precedence, by path or by name', async () => {
  const { root, agent } = await place({
    'node_modules/node/bin/node': 'v24.0.0',
    'mine/my-node': 'v25.1.0',
  });
  const byPath = await run(agent, { TOOLPLANE_NODE: `${root}/mine/my-node` });
  expect(byPath.stdout).toMatch(/^v25\.1\.0: /);
  const byName = await run(agent, { TOOLPLANE_NODE: 'my-node', PATH: `${root}/mine` });
  expect(byName.stdout).toMatch(/^v25\.1\.0: /);
});

test.each(['v18.0.0', 'nonsense'])('an unusable TOOLPLANE_NODE (%s) is an error', async (version) => {
  const { root, agent } = await place({ 'node_modules/node/bin/node': 'v24.0.0', 'mine/node': version });
  expect(await run(agent, { TOOLPLANE_NODE: `${root}/mine/node` })).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'toolplane-agent: TOOLPLANE_NODE is not a Node of version 22.19 or newer: set it to the path of one\n',
  });
});

test('searches the nvm directory', async () => {
  const { root, agent } = await place({
    'home/.nvm/versions/node/v18.1.0/bin/node': 'v18.1.0',
    'home/.nvm/versions/node/v99.0.0/bin/node': 'v99.0.0',
    'node_modules/node/bin/node': 'v20.0.0',
  });
  expect((await run(agent, { HOME: `${root}/home` })).stdout).toMatch(/^v99\.0\.0: /);
});

test('follows a chain of links to the package', async () => {
  const { root, agent } = await place({ 'node_modules/node/bin/node': 'v24.0.0' }, 'src/cli/main.ts');
  await mkdir(join(root, 'node_modules/.bin'));
  await symlink('../toolplane/bin/toolplane-agent', join(root, 'node_modules/.bin/toolplane-agent'));
  await symlink(join(root, 'node_modules/.bin/toolplane-agent'), join(root, 'linked'));
  const { stdout } = await run(join(root, 'linked'), {}, ['--x=', '']);
  expect(stdout).toBe(`v24.0.0: ${join(dirname(agent), '../src/cli/main.ts')} agent --x= \n`);
});
