import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reachableDeclarations } from '../../scripts/declarations.ts';
import { buildIfStale } from '../../scripts/fresh-build.ts';
import { ROOT } from '../../scripts/step.ts';
import * as host from '../../src/entry/host.ts';
import * as main from '../../src/entry/index.ts';
import * as testing from '../../src/entry/testing.ts';
import { startMessagesApi } from '../support/model-api/messages-api.ts';
import { text } from '../support/model-api/model-reply.ts';
import { chunk, startOpenAiApi } from '../support/model-api/openai-api.ts';

// The package as users get it: packed, and installed in an empty project with its dependencies alone.

/** Without the optional package for the keychain, which has 3.4 MB. */
const MAX_INSTALLED_MB = 30;

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

let project = '';

beforeAll(async () => {
  if (!buildIfStale()) throw new Error('the package cannot be built');
  project = await realpath(await mkdtemp(join(tmpdir(), 'toolplane-package-')));
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['pack', ROOT, '--ignore-scripts'], { cwd: project });
  const tarball = `toolplane-${manifest.version}.tgz`;
  await run('npm', ['install', `./${tarball}`, '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: project,
  });
}, 180_000);

afterAll(async () => {
  if (project !== '') await rm(project, { recursive: true, force: true });
});

/** Runs a program in the project; the environment is nothing but a home and what is given. */
async function runModule(source: string, env: Record<string, string> = {}): Promise<string> {
  const file = join(project, 'program.mjs');
  await writeFile(file, source);
  const { stdout } = await run(process.execPath, [file], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: project, ...env },
  });
  return stdout.trim();
}

test(`an installation takes at most ${MAX_INSTALLED_MB} MB on disk`, async () => {
  const { stdout } = await run('du', ['-sk', '--exclude=@napi-rs', 'node_modules'], { cwd: project });
  expect(Number.parseInt(stdout, 10) / 1024).toBeLessThanOrEqual(MAX_INSTALLED_MB);
});

test('every package whose code is in the bundle has its licence in the package', async () => {
  const licenses = await readFile(join(project, 'node_modules/toolplane/dist/THIRD-PARTY-LICENSES'), 'utf8');
  for (const name of [
    'openai',
    '@anthropic-ai/sdk',
    'commander',
    'croner',
    'ajv',
    're2js',
    'smol-toml',
    'unbash',
    '@modelcontextprotocol/sdk',
  ])
    expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, 'm'));
});

test('declarations import types of dependencies and optional peers alone, and none is packed that no export needs', () => {
  const dist = join(project, 'node_modules/toolplane/dist');
  const { files, packages } = reachableDeclarations(dist);
  const usable = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  expect(usable).toEqual(expect.arrayContaining([...packages]));
  expect(globSync('**/*.d.ts', { cwd: dist }).sort()).toEqual([...files].sort());
});

test('the instance of a server is an McpServer, although the MCP SDK is not installed', async () => {
  const program = `import { createSdkMcpServer, tool } from 'toolplane';
    const server = createSdkMcpServer({ name: 'calc', tools: [tool('add', 'Adds', {}, () => 'x')] });
    server.instance.registerTool('more', { description: 'More' }, async () => ({ content: [] }));
    console.log(server.instance.constructor.name, server.instance.isConnected());`;
  expect(await runModule(program)).toBe('McpServer false');
  expect(globSync('node_modules/@modelcontextprotocol/sdk', { cwd: project })).toEqual([]);
});

test('tool calls are traced with the OpenTelemetry of the program, which is not installed with the package', async () => {
  const api = JSON.stringify(join(ROOT, 'node_modules/@opentelemetry/api/build/src/index.js'));
  const program = `import { createRequire } from 'node:module';
    import { createSdkMcpServer, query, tool } from 'toolplane';
    import { scriptAgent } from 'toolplane/testing';
    const { trace } = createRequire(import.meta.url)(${api});
    const span = { setAttribute() {}, setStatus() {}, end() {}, spanContext: () => ({}) };
    const startSpan = (name) => (console.log(name), span);
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) });
    const oven = createSdkMcpServer({ name: 'oven', tools: [tool('reading', 'Thermometer', {}, () => 'x')] });
    const { link } = scriptAgent(async (agent) => {
      await agent.start();
      await agent.prompt();
      await agent.callTool('oven', 'reading');
      agent.result('done');
    });
    for await (const _ of query({ prompt: 'Look.', options: { link, mcpServers: { oven } } }));`;
  expect(await runModule(program)).toBe('execute_tool reading');
  expect(globSync('node_modules/@opentelemetry', { cwd: project })).toEqual([]);
});

test('the bundle exports what the sources export', async () => {
  const names = `const names = async (entry) => Object.keys(await import(entry)).sort();
    console.log(JSON.stringify([await names('toolplane'), await names('toolplane/host'), await names('toolplane/testing')]));`;
  expect(JSON.parse(await runModule(names))).toEqual(
    [main, host, testing].map((it) => Object.keys(it).sort()),
  );
});

test('both executables run', async () => {
  const env = { PATH: process.env.PATH, HOME: project, TOOLPLANE_NODE: process.execPath };
  const bin = (name: string) => join(project, 'node_modules/.bin', name);
  expect((await run(process.execPath, [bin('toolplane'), '--version'], { env })).stdout).toBe(
    `${manifest.version}\n`,
  );
  expect((await run(process.execPath, [bin('toolplane'), '--help'], { env })).stdout).toContain(
    'Exit codes:',
  );
  expect((await run(bin('toolplane-agent'), ['--help'], { env })).stdout).toContain('--output-format');
});

test('the command loads one small chunk before it checks the version of Node', async () => {
  const dist = join(project, 'node_modules/toolplane/dist');
  const importsOf = (code: string) =>
    [...code.matchAll(/^import .*?"(.+)";$/gm)].map(([, specifier]) => specifier);
  const [boot = '', ...others] = importsOf(await readFile(join(dist, 'cli/main.js'), 'utf8'));
  expect(others).toEqual([]);
  expect(boot).toMatch(/\/chunks\/boot-/);
  expect(importsOf(await readFile(join(dist, 'cli', boot), 'utf8'))).toEqual([]);
});

test('the executables keep compiled code beside the package, unless Node is told not to', async () => {
  const cache = join(project, 'node_modules/toolplane/node_modules/.cache/toolplane');
  await rm(cache, { recursive: true, force: true });
  const listServers = (env: Record<string, string>) =>
    run(process.execPath, [join(project, 'node_modules/.bin/toolplane'), 'mcp', 'list'], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: project, ...env },
    });
  await listServers({ NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(globSync('**/*', { cwd: cache })).toEqual([]);
  await listServers({});
  expect(globSync('**/*', { cwd: cache })).not.toEqual([]);
});

const ASK = (model: string, more = '') => `
  import { query } from 'toolplane';
  for await (const message of query({ prompt: 'hi', options: { model: '${model}', ${more} } }))
    if (message.type === 'result') console.log(message.result ?? JSON.stringify(message));`;

test('the model SDKs are in the bundle', async () => {
  await using anthropic = await startMessagesApi([text('Hello from Messages.')]);
  const messages = { ANTHROPIC_API_KEY: 'dummy', ANTHROPIC_BASE_URL: anthropic.url };
  expect(await runModule(ASK('claude-test'), messages)).toBe('Hello from Messages.');

  await using openai = await startOpenAiApi([
    { chunks: [chunk({ role: 'assistant', content: 'Hello from Completions.' }), chunk({}, 'stop')] },
  ]);
  const completions = { OPENAI_API_KEY: 'dummy', OPENAI_BASE_URL: openai.url };
  expect(await runModule(ASK('openai:tiny'), completions)).toBe('Hello from Completions.');
});

test('Grep finds its worker thread and the expression engine', async () => {
  await writeFile(join(project, 'notes.txt'), 'one\nneedle 42\n');
  const call = { tool: 'Grep', input: { pattern: 'needle \\d+', path: 'notes.txt', output_mode: 'content' } };
  await writeFile(join(project, 'replies.json'), JSON.stringify([call, 'Done.']));
  const program = `import { query } from 'toolplane';
    for await (const { type, message } of query({ prompt: 'hi', options: { model: 'scripted:replies.json' } }))
      if (type === 'user') console.log(JSON.stringify(message.content));`;
  expect(await runModule(program)).toContain('needle 42');
});

test('a module server, schemas of every kind and the words of the search', async () => {
  await writeFile(
    join(project, 'tools.mjs'),
    `import { toolServer } from 'toolplane';
    import { z } from 'zod';
    import { z as z3 } from 'zod/v3';
    const number = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    export const tools = toolServer('tools')
      .tool('zod', 'Zod 4', { n: z.number() }, ({ n }) => n)
      .tool('zod3', 'Zod 3', { n: z3.number() }, ({ n }) => n)
      .tool('json', 'JSON Schema', number, ({ n }) => n)
      .tool('draft7', 'Draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', ...number }, ({ n }) => n)
      .tool('delete_file', 'Delete a file', number, ({ n }) => n);`,
  );
  const program = `import { moduleServer } from 'toolplane';
    import { createHost } from 'toolplane/host';
    await using host = createHost({ mcpServers: { tools: moduleServer(new URL('./tools.mjs', import.meta.url)) } });
    await host.ready();
    const outcomes = {};
    for (const name of ['zod', 'zod3', 'json', 'draft7']) {
      const good = await host.callTool('tools', name, { n: 1 });
      const bad = await host.callTool('tools', name, { n: 'one' });
      outcomes[name] = [good.isError ?? false, bad.isError ?? false];
    }
    const pool = await host.pool();
    const [found] = await pool.search('get rid of', { limit: 1 });
    console.log(JSON.stringify({ ...outcomes, found: found?.tool }));`;
  expect(JSON.parse(await runModule(program))).toEqual({
    zod: [false, true],
    zod3: [false, true],
    json: [false, true],
    draft7: [false, true],
    found: 'delete_file',
  });
});

test('importing the package loads nothing of the host', async () => {
  const loaded = `import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    await import('toolplane');
    console.log(JSON.stringify(urls.filter((url) => !url.startsWith('node:'))));`;
  const urls = JSON.parse(await runModule(loaded)) as string[];
  expect(urls.filter((url) => !url.includes('/node_modules/toolplane/dist/'))).toEqual([]);
  expect(
    urls.filter((url) => /\/chunks\/(?!.*index|require-node|boot|rolldown|required|mcp-core)/.test(url)),
  ).toEqual([]);
});
