import { basename } from 'node:path';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';
import { ROOT } from './step.ts';

/** The modules that a process loads first: a package export, or the command and then the agent. */
const STARTS = [
  'src/entry/index.ts',
  'src/entry/host.ts',
  'src/entry/testing.ts',
  'src/cli/program.ts',
  'src/agent/launch/launch.ts',
];

/**
 * Groups modules into chunks. By default rolldown creates a chunk for every set of modules that the same entries and lazy
 * imports share, which is about 100 files to open before an agent runs. Here a chunk holds the modules that the same
 * starts load: few files, and no start loads more than it needs. All other modules stay in the lazy chunks of rolldown.
 */
export function chunkGroups(): CodeSplittingGroup[] {
  let closures: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return [
    // `cli/main.ts` loads this chunk before it checks the version of Node, so it has no newer syntax. It contains no
    // command, so that `toolplane --version` is fast.
    { name: 'boot', test: /\/src\/(?:entry\/version|cli\/output\/output-errors)\.ts$/, priority: 3 },
    // The package exports load this chunk before all others.
    { name: 'require-node', test: /\/src\/entry\/require-node\.ts$/, priority: 2 },
    // Packages that the sources `require`, apart from the project's own code, which is not minified.
    { name: 're2js', test: /\/node_modules\/re2js\//, priority: 2 },
    {
      name: 'required',
      test: /\/node_modules\/(?:zod|zod-to-json-schema|@opentelemetry)\/|zod-3-kinds/,
      priority: 2,
    },
    { name: 'mcp-core', test: /\/src\/tool-server\/instance\/mcp-core\.ts$/, priority: 2 },
    {
      debugName: 'start',
      name(id, context) {
        closures ??= new Map(
          STARTS.map((file) => [basename(file, '.ts'), staticClosure(`${ROOT}${file}`, context)]),
        );
        if (context.getModuleInfo(id)?.isEntry) return null;
        const starts = [...closures].filter(([, modules]) => modules.has(id)).map(([name]) => name);
        return starts.length > 0 ? starts.join('-') : null;
      },
      priority: 1,
      // The imports of a module are loaded by at least the same starts: they are in this chunk or in one that this chunk
      // imports, never in one that imports this chunk.
      includeDependenciesRecursively: false,
    },
  ];
}

/** The module and all its static imports, recursively. */
function staticClosure(start: string, context: ChunkingContext): ReadonlySet<string> {
  if (context.getModuleInfo(start) === null)
    throw new Error(`${start} is listed in ${import.meta.filename} and does not exist`);
  const modules = new Set([start]);
  for (const id of modules)
    for (const found of context.getModuleInfo(id)?.importedIds ?? []) modules.add(found);
  return modules;
}
