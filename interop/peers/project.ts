import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../../scripts/fresh-build.ts';
import { installPeers } from '../../scripts/peers.ts';
import { ROOT } from '../../scripts/step.ts';
import type { PackageName } from '../compare.ts';

/** The name under which both packages are installed. */
export const OFFICIAL_NAME = '@anthropic-ai/claude-agent-sdk';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const INSTALLED = join(HERE, 'node_modules');

/** A folder in which the published packages are installed with one of the two packages. */
export interface PeerProject extends Disposable {
  readonly path: string;
  /** The path of an installed package. */
  packagePath(name: string): string;
}

/** The published packages that use the official one, by name. */
export const USERS: readonly string[] = [
  '@agentclientprotocol/claude-agent-acp',
  '@arizeai/openinference-instrumentation-claude-agent-sdk',
  '@mastra/claude',
  'ai-sdk-provider-claude-code',
  'braintrust',
  'langsmith',
];

/** Installs the published packages if they are missing, and builds ours; returns whether both succeeded. */
export function preparePeers(): boolean {
  return installPeers('interop/peers') && buildIfStale();
}

/**
 * A project that finds all packages in `interop/peers/node_modules`. For ours it has its own copies of the packages that
 * import the official one, with Toolplane under its name: the layout of an npm alias.
 */
export function openProject(name: PackageName): PeerProject {
  const cache = join(INSTALLED, '.cache');
  mkdirSync(cache, { recursive: true });
  const path = mkdtempSync(join(cache, `${name}-`));
  writeFileSync(join(path, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(path, 'load.js'), 'export const load = (name) => import(name);\n');
  if (name === 'ours') {
    const modules = join(path, 'node_modules');
    for (const user of USERS) cpSync(join(INSTALLED, user), join(modules, user), { recursive: true });
    installOurs(join(modules, OFFICIAL_NAME));
  }
  return {
    path,
    packagePath(wanted) {
      const own = join(path, 'node_modules', wanted);
      return existsSync(own) ? own : join(INSTALLED, wanted);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Dependencies that the other packages have in another version are installed inside the package, as npm does. */
function installOurs(target: string): void {
  for (const part of ['dist', 'bin', 'package.json']) {
    cpSync(join(ROOT, part), join(target, part), { recursive: true });
  }
  for (const dependency of Object.keys(manifest(target).dependencies ?? {})) {
    const shared = join(INSTALLED, dependency);
    const wanted = join(ROOT, 'node_modules', dependency);
    if (existsSync(shared) && manifest(shared).version === manifest(wanted).version) continue;
    const link = join(target, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(wanted, link);
  }
}

function manifest(folder: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
