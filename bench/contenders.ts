import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lab.ts';

/** Which package is measured. */
export type SdkName = 'ours' | 'official';

/** Where a package is, and the zod that stands beside it; URLs to import. */
export type Contender = { sdk: string; zod: string };

/** The package as built in `packageDir`, and the one it is measured against. */
export function contenders(packageDir: string): Record<SdkName, Contender> {
  const peers = join(ROOT, 'interop/node_modules');
  return {
    ours: {
      sdk: url(packageDir, 'dist/entry/index.js'),
      zod: url(ROOT, 'node_modules/zod/index.js'),
    },
    official: {
      sdk: url(peers, '@anthropic-ai/claude-agent-sdk/sdk.mjs'),
      zod: url(peers, 'zod/index.js'),
    },
  };
}

function url(directory: string, file: string): string {
  return pathToFileURL(join(directory, file)).href;
}
