import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lab.ts';

/** The measured package. */
export type SdkName = 'ours' | 'official';

/** The URLs of a package and of the zod that it uses. */
export type Contender = { sdk: string; zod: string };

/** The package built in `packageDir`, and the official package. */
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
