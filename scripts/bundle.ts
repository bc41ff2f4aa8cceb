import { copyFileSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, posix, relative, sep } from 'node:path';
import { type CodeSplittingGroup, type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { minify } from 'rolldown/utils';
import { chunkGroups } from './chunk-groups.ts';
import { ROOT } from './step.ts';

/** Modules with their own output file: the package exports, the command, and worker threads, which are started by path. */
const ENTRIES = ['src/entry/{index,host,testing}.ts', 'src/cli/main.ts', 'src/**/*-worker.ts'];

/**
 * Packages that the sources load with `createRequire`, so that the first use can stay synchronous. Each becomes a
 * CommonJS file, because a chunk of an ES module can be loaded lazily only by `import()`.
 */
const REQUIRED_PACKAGES: Readonly<Record<string, string>> = {
  ajv: 'ajv',
  'ajv/dist/2020.js': 'ajv-2020',
  'ajv-formats': 'ajv-formats',
  re2js: 're2js',
  'zod-to-json-schema': 'zod-to-json-schema',
};

/** Bundles the entries into `directory`; returns the names of the packages whose code is included. */
export async function bundle(directory: string, entries: readonly string[] = ENTRIES): Promise<string[]> {
  const groups = entries === ENTRIES ? chunkGroups() : [];
  const chunks = [
    ...(await bundleModules(directory, globSync(entries, { cwd: ROOT }), groups)),
    ...(await bundleRequiredPackages(directory)),
  ];
  copyDataFiles(directory);
  return [...new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)))].sort();
}

/** One file per entry; shared code and lazily imported parts go to `chunks/`. */
async function bundleModules(
  directory: string,
  entries: readonly string[],
  groups: CodeSplittingGroup[],
): Promise<OutputChunk[]> {
  await using build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((file) => [outputPath(file).replace(/\.js$/, ''), file])),
    platform: 'node',
    // Required by the chunk groups; a test compares the exported names.
    preserveEntrySignatures: 'allow-extension',
    external: isInstalled,
    transform: { target: 'es2023' },
    treeshake: { moduleSideEffects: [{ test: /\/require-node\.ts$/, sideEffects: true }] },
    plugins: [moduleUrls(), minifyPackages()],
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

async function bundleRequiredPackages(directory: string): Promise<OutputChunk[]> {
  await using build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(
      Object.entries(REQUIRED_PACKAGES).map(([specifier, name]) => [name, specifier]),
    ),
    platform: 'node',
    external: isInstalled,
    plugins: [minifyPackages()],
  });
  const { output } = await build.write({
    dir: `${directory}/required`,
    format: 'cjs',
    exports: 'named',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    comments: COMMENTS,
  });
  return output.filter((file) => file.type === 'chunk');
}

/** Copies files of `src/` that modules read by a relative path. */
function copyDataFiles(directory: string): void {
  for (const file of globSync('**/*.*', { cwd: `${ROOT}src`, exclude: ['**/*.ts'] })) {
    mkdirSync(dirname(`${directory}/${file}`), { recursive: true });
    copyFileSync(`${ROOT}src/${file}`, `${directory}/${file}`);
  }
}

const COMMENTS = { legal: true, annotation: false, jsdoc: false };

/** Dependencies are not bundled: users share their types and identity. */
function isInstalled(id: string): boolean {
  return id.startsWith('node:') || INSTALLED.some((name) => id === name || id.startsWith(`${name}/`));
}

const INSTALLED = Object.keys(JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).dependencies);

/**
 * Sets `import.meta.url` of each module to the URL without bundling, `dist/<path in src>.js`, so that relative paths to
 * data files, workers and the command are the same in the sources and in the bundle.
 */
function moduleUrls(): Plugin {
  return {
    name: 'module-urls',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: /import\.meta\.url/ },
      handler(source, id) {
        const path = outputPath(relative(ROOT, id).split(sep).join('/'));
        const code = source.includes('createRequire(') ? withRequiredPaths(source, path) : source;
        return code.replaceAll('import.meta.url', `new URL('${DIST}${path}', import.meta.url).href`);
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
        if (chunk.type === 'asset' || chunk.moduleIds.flatMap(packageOf).length < chunk.moduleIds.length)
          continue;
        const { code } = await minify(chunk.fileName, chunk.code, {
          module: format === 'es',
          mangle: { keepNames: { class: true, function: false } },
        });
        chunk.code = code;
      }
    },
  };
}

/** Placeholder for the root of the bundle until the chunk of a module is known. */
const DIST = 'toolplane-dist:';

/** Replaces the names of required packages by the paths of their files, relative to the module. */
function withRequiredPaths(source: string, path: string): string {
  return source.replaceAll(/(?<=[^\w.]')[\w./-]+(?=')/g, (specifier) => {
    const name = REQUIRED_PACKAGES[specifier];
    return name === undefined ? specifier : posix.relative(posix.dirname(path), `required/${name}.cjs`);
  });
}

function outputPath(source: string): string {
  return source.replace(/^src\//, '').replace(/\.ts$/, '.js');
}

/** The package of a bundled module, named as in its path below `node_modules`. */
function packageOf(moduleId: string): string[] {
  const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(moduleId.split(sep).join('/'))?.[1];
  return name === undefined ? [] : [name];
}
