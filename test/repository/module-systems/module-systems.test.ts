import { execFile } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildIfStale } from '../../../scripts/fresh-build.ts';
import { bin, ROOT } from '../../../scripts/step.ts';

// One program in every module system, with the official package and with Toolplane under its name, as npm installs
// `"@anthropic-ai/claude-agent-sdk": "npm:toolplane"`. Both must print the same.

const NAME = '@anthropic-ai/claude-agent-sdk';
const PEERS = `${ROOT}interop/node_modules`;
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const PROGRAM = readFileSync(here('./fixtures/program.mjs'), 'utf8');

/** The program with types of every entry point; the official declarations know zod 3 only as a part of zod 4. */
const typedProgram = (project: string) => `${PROGRAM.replace("'zod-v3'", "'zod/v3'")}
import type { Options } from '${NAME}';
import type { BashInput } from '${NAME}/sdk-tools';
import type { GlobInput } from '${NAME}/sdk-tools.js';
export const typed: [Options, BashInput, GlobInput] = [{ cwd: '.' }, { command: 'ls' }, { pattern: '*' }];
// @ts-expect-error a pattern is a string: fails if the types of sdk-tools are not found and become any
export const wrong: [Options, BashInput, GlobInput] = [{ cwd: '.' }, { command: 'ls' }, { pattern: 1 }];
// @ts-expect-error cwd is a string: fails if the types of the package are not found and become any
export const wrongToo: [Options, BashInput, GlobInput] = [{ cwd: 1 }, { command: 'ls' }, { pattern: '*' }];
${project.endsWith('toolplane') ? TYPES_OF_TOOLPLANE : ''}`;

const TYPES_OF_TOOLPLANE = `import type { Host } from '${NAME}/host';
import type { AgentScript } from '${NAME}/testing';
// @ts-expect-error a number is not a Host: fails if the types are not found and become any
export const host: Host = 1;
// @ts-expect-error a number is not an AgentScript: fails if the types are not found and become any
export const script: AgentScript = 1;`;
const run = promisify(execFile);
const requirePeer = createRequire(`${PEERS}/`);

const root = mkdtempSync(join(tmpdir(), 'toolplane-module-systems-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const PACKAGES = ['official', 'toolplane'] as const;
type Package = (typeof PACKAGES)[number];

beforeAll(() => {
  if (!buildIfStale()) throw new Error('the package cannot be built');
  for (const name of PACKAGES) {
    const modules = join(root, name, 'node_modules');
    mkdirSync(join(modules, dirname(NAME)), { recursive: true });
    for (const peer of ['zod', 'zod-v3']) symlinkSync(join(PEERS, peer), join(modules, peer));
    symlinkSync(join(ROOT, 'node_modules/@types'), join(modules, '@types'));
    writeFileSync(join(root, name, 'package.json'), '{ "private": true, "type": "module" }');
  }
  symlinkSync(join(PEERS, NAME), join(root, 'official/node_modules', NAME));
  const installed = join(root, 'toolplane/node_modules');
  for (const part of ['dist', 'package.json']) {
    cpSync(join(ROOT, part), join(installed, NAME, part), { recursive: true });
  }
  for (const name of ['@modelcontextprotocol', 'jose', 'undici', 'ws']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(installed, name));
  }
  writeFileSync(join(root, 'notes.txt'), 'one\nneedle 42\n');
  const calls = [
    { tool: 'mcp__calc__zod3', input: { n: 40, note: 'own agent' } },
    { tool: 'Grep', input: { pattern: 'needle \\d+', path: 'notes.txt', output_mode: 'content' } },
    'Done.',
  ];
  writeFileSync(join(root, 'replies.json'), JSON.stringify(calls));
}, 120_000);

/** A folder of the project with the program in it. */
function folder(project: string, name: string, files: Record<string, string>): string {
  const path = join(project, name);
  mkdirSync(path, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content);
  return path;
}

type Command = readonly [command: string, ...args: string[]];

/** How each module system gets from the program to a command that runs it. */
const SYSTEMS: Readonly<Record<string, (project: string, bundles: string) => Command | Promise<Command>>> = {
  'Node, import': (project) => [
    process.execPath,
    join(folder(project, 'esm', { 'p.mjs': PROGRAM }), 'p.mjs'),
  ],
  'Node, require': (project) => {
    const source = PROGRAM.replaceAll(/^import \{(.+)\} from (.+);$/gm, (_, names: string, from) => {
      return `const {${names.replaceAll(' as ', ': ')}} = require(${from});`;
    });
    return [process.execPath, join(folder(project, 'cjs', { 'p.cjs': source }), 'p.cjs')];
  },
  'tsx, CommonJS project': (project) => {
    const path = folder(project, 'tsx', { 'package.json': '{ "type": "commonjs" }', 'p.ts': PROGRAM });
    return [process.execPath, join(PEERS, 'tsx/dist/cli.mjs'), join(path, 'p.ts')];
  },
  'tsc, ES modules': async (project) => {
    const path = folder(project, 'tsc', {
      'package.json': '{ "type": "module" }',
      'p.ts': typedProgram(project),
    });
    await compile(bin('tsc'), path, ['--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler']);
    await compile(bin('tsc'), path, ['--module', 'node16']);
    return [process.execPath, join(path, 'p.js')];
  },
  'tsc, CommonJS': async (project) => {
    const path = folder(project, 'tsc5', {
      'package.json': '{ "type": "commonjs" }',
      'p.ts': typedProgram(project),
    });
    await compile(TSC_5, path, ['--module', 'commonjs', '--moduleResolution', 'node10', '--esModuleInterop']);
    return [process.execPath, join(path, 'p.js')];
  },
  'esbuild, ES module': (project, bundles) => esbuild(project, join(bundles, 'esbuild.mjs'), 'esm'),
  'esbuild, CommonJS': (project, bundles) => esbuild(project, join(bundles, 'esbuild.cjs'), 'cjs'),
  rolldown: async (project, bundles) => {
    const input = join(folder(project, 'rolldown', { 'p.mjs': PROGRAM }), 'p.mjs');
    await using build = await rolldown({ input, platform: 'node' });
    await build.write({ dir: join(bundles, 'rolldown'), entryFileNames: 'p.mjs' });
    return [process.execPath, join(bundles, 'rolldown/p.mjs')];
  },
  webpack: async (project, bundles) => {
    const path = join(bundles, 'webpack');
    const entry = join(folder(project, 'webpack', { 'p.mjs': PROGRAM }), 'p.mjs');
    const options = {
      entry,
      target: 'node',
      mode: 'none',
      output: { path, filename: 'p.cjs' },
      cache: false,
    };
    await new Promise<void>((resolve, reject) =>
      requirePeer('webpack')(
        options,
        (error: unknown, stats: { hasErrors(): boolean; toString(): string }) =>
          error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(),
      ),
    );
    return [process.execPath, join(path, 'p.cjs')];
  },
  Bun: (project) => {
    // The install script of `bun`, where it may run, moves the binary out of the package of the platform.
    const [bun = 'bun/bin/bun.exe'] = globSync('@oven/bun-*/bin/bun', { cwd: PEERS });
    return [join(PEERS, bun), join(folder(project, 'bun', { 'p.ts': PROGRAM }), 'p.ts')];
  },
};

const TSC_5 = join(PEERS, 'typescript-5/bin/tsc');

async function compile(tsc: string, cwd: string, options: readonly string[]): Promise<void> {
  const common = ['--target', 'es2022', '--strict', '--types', 'node', '--skipLibCheck'];
  try {
    await run(process.execPath, [tsc, 'p.ts', ...common, ...options], { cwd });
  } catch (thrown) {
    throw new Error((thrown as { stdout: string }).stdout, { cause: thrown });
  }
}

/** CommonJS packages in an ES module call `require`, which esbuild leaves to the output. */
const WITH_REQUIRE = {
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

/** The official package needs `import.meta.url`, which CommonJS does not have. */
const WITH_URL = {
  define: { 'import.meta.url': 'moduleUrl' },
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
};

async function esbuild(project: string, outfile: string, format: 'esm' | 'cjs'): Promise<Command> {
  const entry = join(folder(project, `esbuild-${format}`, { 'p.mjs': PROGRAM }), 'p.mjs');
  await requirePeer('esbuild').build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    logLevel: 'error',
    format,
    ...(format === 'esm' ? WITH_REQUIRE : project.endsWith('official') && WITH_URL),
  });
  return [process.execPath, outfile];
}

async function outputOf([command, ...args]: Command, name: Package): Promise<string[]> {
  const { stdout, stderr } = await run(command, args, {
    cwd: root,
    env: {
      PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
      HOME: root,
      ANTHROPIC_API_KEY: 'none',
      AGENT: here('./fixtures/stand-in-agent.mjs'),
      ...(name === 'toolplane' && { OWN_AGENT: `scripted:${join(root, 'replies.json')}` }),
    },
  });
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

const SEEN_BY_THE_AGENT = {
  zod4: {
    inputSchema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { n: { type: 'number' }, unit: { default: 'm', type: 'string', enum: ['m', 'km'] } },
      required: ['n'],
    },
    text: '41 m',
    rejectsInvalid: true,
  },
  zod3: {
    inputSchema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { n: { type: 'number' }, note: { type: 'string' } },
      required: ['n'],
      additionalProperties: false,
    },
    text: '42 none',
    rejectsInvalid: true,
  },
};

describe.concurrent.each(PACKAGES)('%s', (name) => {
  test.each(Object.entries(SYSTEMS))('%s', { timeout: 120_000 }, async (_system, prepare) => {
    const project = join(root, name);
    // Bundles run where no package is installed.
    const bundles = join(root, 'bundles', name);
    const [fromStandIn = '', ...fromOwnAgent] = await outputOf(await prepare(project, bundles), name);
    expect(JSON.parse(fromStandIn)).toEqual(SEEN_BY_THE_AGENT);
    const [call, search, done] = fromOwnAgent;
    if (name === 'official') return expect(fromOwnAgent).toEqual([]);
    expect(call).toContain('42 own agent');
    expect(search).toContain('needle 42');
    expect(done).toBe('Done.');
  });
});

test('in a bundle in one file, moduleServer() explains that the command is missing', async () => {
  const source = `import { moduleServer } from '${NAME}';
    try { moduleServer('./tools.mjs'); } catch (error) { console.log(error.code); }`;
  const entry = join(folder(join(root, 'toolplane'), 'module-server', { 'p.mjs': source }), 'p.mjs');
  const outfile = join(root, 'bundles/module-server.cjs');
  const options = { bundle: true, platform: 'node', logLevel: 'error' } as const;
  await requirePeer('esbuild').build({ entryPoints: [entry], outfile, format: 'cjs', ...options });
  expect(await outputOf([process.execPath, outfile], 'toolplane')).toEqual(['bad-server']);
});
