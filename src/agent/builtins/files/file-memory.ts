/** How many files are remembered. The one that was read longest ago is forgotten first, and then has to be read again. */
const MAX_FILES = 5_000;

/** Whether a conversation has read the current state of a file, an older one, or none. */
export type Knowledge = 'unread' | 'current' | 'outdated';

/**
 * The files that a conversation has read, with the digest of their bytes. A timestamp would miss a quick change, and
 * would report a touched file as changed.
 */
export class FileMemory {
  readonly #digests = new Map<string, string>();

  /** `path` is absolute, with links resolved. */
  remember(path: string, digest: string): void {
    this.#digests.delete(path);
    this.#digests.set(path, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > MAX_FILES && oldest !== undefined) this.#digests.delete(oldest);
  }

  clear(): void {
    this.#digests.clear();
  }

  /** `digest` is that of the file as it is now. */
  knows(path: string, digest: string): Knowledge {
    const remembered = this.#digests.get(path);
    if (remembered === undefined) return 'unread';
    return remembered === digest ? 'current' : 'outdated';
  }
}

/** Why a file must not be changed yet; undefined if the conversation has read its current state. */
export function staleness(path: string, knowledge: Knowledge): string | undefined {
  switch (knowledge) {
    case 'unread':
      return `${path} has not been read in this conversation: read it with Read first`;
    case 'outdated':
      return `${path} has changed since it was read: read it again with Read before changing it`;
    case 'current':
      return undefined;
  }
}
