import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, posix, relative, sep } from 'node:path';
import { type CodeSplittingGroup, type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { minify } from 'rolldown/utils';
import { ZodFirstPartyTypeKind } from 'zod/v3';
import { chunkGroups } from './chunk-groups.ts';
import { ROOT } from './step.ts';

/** Modules with their own output file: the package exports, the command, and worker threads, which are started by path. */
const ENTRIES = ['src/entry/{index,host,testing}.ts', 'src/cli/main.ts', 'src/**/*-worker.ts'];

/** Bundles the entries into `directory`; returns the names of the packages whose code is included. */
export async function bundle(directory: string, entries: readonly string[] = ENTRIES): Promise<string[]> {
  const groups = entries === ENTRIES ? chunkGroups() : [];
  const included = new Set<string>();
  const chunks = await bundleModules(directory, globSync(entries, { cwd: ROOT }), groups, included);
  for (const { moduleIds } of chunks) for (const id of moduleIds) included.add(id);
  return [...new Set([...included].flatMap(packageOf))].sort();
}

/** One file per entry; shared code and lazily imported parts go to `chunks/`. */
async function bundleModules(
  directory: string,
  entries: readonly string[],
  groups: CodeSplittingGroup[],
  included: Set<string>,
): Promise<OutputChunk[]> {
  await using build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((file) => [outputPath(file).replace(/\.js$/, ''), file])),
    platform: 'node',
    // Required by the chunk groups; a test compares the exported names.
    preserveEntrySignatures: 'allow-extension',
    transform: { target: 'es2023' },
    // Required modules are compiled at their first use, not when the package is imported.
    optimization: { pifeForModuleWrappers: false },
    treeshake: { moduleSideEffects: [{ test: /\/require-node\.ts$/, sideEffects: true }] },
    plugins: [dependencies(), mcpCore(included), dataFiles(), moduleUrls(), minifyPackages()],
  });
  const { output } = await build.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: COMMENTS,
    codeSplitting: { groups },
  });
  return output.filter((file) => file.type === 'chunk');
}

const COMMENTS = { legal: true, annotation: false, jsdoc: false };

/**
 * Dependencies are not bundled, because users share their types, except what the sources `require`: these modules are
 * included with all their imports and evaluated at the first use, so that they need not be found at run time.
 */
function dependencies(): Plugin {
  const required = new Set<string>();
  return {
    name: 'dependencies',
    async resolveId(specifier, importer, { kind }) {
      if (specifier === ZOD_3 && importer?.includes('/zod-to-json-schema/')) return ZOD_3_KINDS;
      if (kind === 'require-call' || (importer !== undefined && required.has(importer))) {
        const resolved = await this.resolve(specifier, importer, { kind, skipSelf: true });
        if (resolved && !resolved.external) required.add(resolved.id);
        return resolved;
      }
      const isInstalled = INSTALLED.some((name) => specifier === name || specifier.startsWith(`${name}/`));
      return isInstalled ? { id: specifier, external: true } : null;
    },
    load(id) {
      if (id !== ZOD_3_KINDS) return null;
      return `export const ZodFirstPartyTypeKind = ${JSON.stringify(ZodFirstPartyTypeKind)};`;
    },
  };
}

/** `zod-to-json-schema` needs nothing of zod 3 but the names of its kinds of schemas. */
const ZOD_3 = 'zod/v3';
const ZOD_3_KINDS = '\0zod-3-kinds.js';

const INSTALLED = Object.keys(JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).dependencies);

const MCP_CORE = /\/src\/tool-server\/instance\/mcp-core\.ts$/;

/**
 * Bundles the parts of the official MCP SDK beforehand, with only the used parts of zod and without the default JSON Schema
 * validator, which is not used: the module is read at every start, although it is evaluated later.
 */
function mcpCore(included: Set<string>): Plugin {
  const withoutValidator: Plugin = {
    name: 'without-validator',
    load: {
      filter: { id: /\/validation\/ajv-provider\.js$/ },
      handler: () => 'export class AjvJsonSchemaValidator {}',
    },
  };
  return {
    name: 'mcp-core',
    load: {
      filter: { id: MCP_CORE },
      async handler(id) {
        const transform = { target: 'es2023' };
        await using build = await rolldown({
          input: id,
          platform: 'node',
          transform,
          plugins: [withoutValidator],
        });
        const { output } = await build.generate({ format: 'esm', minify: MINIFY, comments: COMMENTS });
        for (const module of output[0].moduleIds) included.add(module);
        return { code: output[0].code, moduleType: 'js' };
      },
    },
  };
}

/** Turns the reading of a data file into a lazy import of its text, so that the package needs no file beside its code. */
function dataFiles(): Plugin {
  const reading = /readFile\(new URL\(`\.\/data\/\$\{(\w+)\}`, import\.meta\.url\), 'utf8'\)/g;
  return {
    name: 'data-files',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: reading },
      handler(source, id) {
        const files = globSync('data/*', { cwd: dirname(id) }).sort();
        const loads = files.map((file) => `'${basename(file)}': () => import('./${file}')`);
        return source.replaceAll(reading, `({ ${loads.join(', ')} })[$1]().then((text) => text.default)`);
      },
    },
  };
}

/**
 * Sets `import.meta.url` of each module to the URL without bundling, `dist/<path in src>.js`, so that relative paths to
 * workers and the command are the same in the sources and in the bundle. Bundlers that process the package
 * again may leave `import.meta.url` undefined, and would take a literal `new URL('…', import.meta.url)` for an asset.
 */
function moduleUrls(): Plugin {
  return {
    name: 'module-urls',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: /import\.meta\.url/ },
      handler(source, id) {
        const path = outputPath(relative(ROOT, id).split(sep).join('/'));
        // Evaluated at the first use, as in the sources, but found by every bundler: the package may be bundled again.
        const code = source.replaceAll('createRequire(import.meta.url)(', 'require(');
        return code.replaceAll('import.meta.url', `new URL('${DIST}${path}', String(import.meta.url)).href`);
      },
    },
    renderChunk(code, { fileName }) {
      if (!code.includes(DIST)) return null;
      return code.replaceAll(DIST, `${posix.relative(posix.dirname(fileName), '.') || '.'}/`);
    },
  };
}

/** Minifies chunks that contain only other packages. The project's own code stays readable in stack traces. */
function minifyPackages(): Plugin {
  return {
    name: 'minify-packages',
    async generateBundle({ format }, files) {
      for (const chunk of Object.values(files)) {
        if (chunk.type === 'asset' || chunk.moduleIds.some(isOwnModule)) continue;
        const { code } = await minify(chunk.fileName, chunk.code, {
          module: format === 'es',
          ...MINIFY,
        });
        chunk.code = code;
      }
    },
  };
}

const MINIFY = { mangle: { keepNames: { class: true, function: false } } };

/** Placeholder for the root of the bundle until the chunk of a module is known. */
const DIST = 'toolplane-dist:';

function outputPath(source: string): string {
  return source.replace(/^src\//, '').replace(/\.ts$/, '.js');
}

function isOwnModule(moduleId: string): boolean {
  return !moduleId.startsWith('\0') && !MCP_CORE.test(moduleId) && packageOf(moduleId).length === 0;
}

/** The package of a bundled module, named as in its path below `node_modules`. */
function packageOf(moduleId: string): string[] {
  const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(moduleId.split(sep).join('/'))?.[1];
  return name === undefined ? [] : [name];
}
