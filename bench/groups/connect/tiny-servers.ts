import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { RawSide, Side, Target } from '../../drivers/mcp-caller.ts';
import type { TinyServers, TinyUrls } from '../../drivers/tiny-http-servers.ts';
import type { GroupContext } from '../../group.ts';
import type { RunOptions } from '../../lab.ts';

/** The minimal server on stdio. */
export const STDIO: Target = {
  script: fileURLToPath(new URL('../../drivers/tiny-stdio-server.ts', import.meta.url)),
};

export const BARE: Side = { who: 'bare' };

export const RAW: RawSide = { who: 'raw' };

/** The built host. */
export function ourHost({ packageDir }: GroupContext): Side & { who: 'host' } {
  return { who: 'host', host: pathToFileURL(join(packageDir, 'dist/entry/host.js')).href };
}

/** Minimal HTTP servers in their own process until disposed of; the silent ones come first. */
export async function serveHttp(
  { lab }: GroupContext,
  servers: TinyServers,
  options?: RunOptions,
): Promise<AsyncDisposable & { targets: Target[] }> {
  const process = lab.converse<TinyUrls>('tiny-http-servers', [servers], options);
  const { urls } = await process.ask('where');
  return {
    targets: urls.map((url) => ({ url })),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}
