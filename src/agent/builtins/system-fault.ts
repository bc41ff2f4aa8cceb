/** What the system refused, in one line for the model; undefined for what is no refusal of the system. */
export function systemFault(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') return undefined;
  if (thrown.code === 'ERR_INVALID_ARG_VALUE') return 'A path or command holds a character no system takes';
  if (!('syscall' in thrown)) return undefined;
  const what = Object.hasOwn(SENTENCES, thrown.code) ? SENTENCES[thrown.code] : thrown.message;
  return 'path' in thrown && typeof thrown.path === 'string' ? `${what}: ${thrown.path}` : String(what);
}

const SENTENCES: Readonly<Record<string, string>> = {
  E2BIG: 'The command is longer than the system takes: write it to a file and run that',
  EACCES: 'Permission denied by the system',
  EEXIST: 'Something of that name is in the way',
  EISDIR: 'That is a directory',
  ELOOP: 'Its links lead round in a circle',
  ENAMETOOLONG: 'The name is longer than the system takes',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space is left on the disk',
  ENOTDIR: 'Something above it is a file, not a directory',
  EPERM: 'Not permitted by the system',
  EROFS: 'The file system is read-only',
};
