import {
  keepResults,
  type ResultPolicy,
  type ResultSource,
  type ResultStore,
  resultSource,
} from '../../../src/agent/results/result-files.ts';

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A store in memory: the nth file has the path `/saved/<n>` with its extension; equal bytes are one file. */
export function memoryStore(): ResultStore & { readonly files: Map<string, string> } {
  const files = new Map<string, string>();
  return {
    directory: '/saved',
    files,
    async save(bytes, extension) {
      const text = Buffer.from(bytes).toString('latin1');
      const known = [...files].find(([, kept]) => kept === text)?.[0];
      const path = known ?? `/saved/${files.size + 1}${extension}`;
      files.set(path, text);
      return path;
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** The text of a saved file. */
export function saved(store: ReturnType<typeof memoryStore>, path: string): string {
  return Buffer.from(store.files.get(path) ?? '', 'latin1').toString();
}

export const FULL: ResultStore = {
  directory: '/full',
  save: () => Promise.reject(new Error('ENOSPC: no space left on device, write')),
  async [Symbol.asyncDispose]() {},
};

/** A source `r` with a tool `mcp__r__t`, in a session with all tools and permissions unless `parts` restricts them. */
export function sourceWith(
  parts: Partial<ResultPolicy> = {},
  meta?: Readonly<Record<string, unknown>>,
): ResultSource {
  const policy = { ...keepResults(memoryStore()), canUse: () => true, ...parts };
  return resultSource(policy, { name: 'mcp__r__t', server: 'r' }, meta);
}
