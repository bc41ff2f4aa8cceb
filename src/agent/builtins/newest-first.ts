import { stat } from 'node:fs/promises';

/** Files by the time they were last changed; what is no file, or no more, is left out. */
export async function newestFirst(paths: readonly string[], signal: AbortSignal): Promise<string[]> {
  const dated: { readonly path: string; readonly time: number }[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    signal.throwIfAborted();
    const some = await Promise.all(paths.slice(from, from + AT_ONCE).map(dateOf));
    dated.push(...some.filter((it) => it !== undefined));
  }
  return dated.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

const AT_ONCE = 64;

async function dateOf(path: string) {
  try {
    const { mtimeMs, isFile } = await stat(path).then((it) => ({ mtimeMs: it.mtimeMs, isFile: it.isFile() }));
    return isFile ? { path, time: mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}
