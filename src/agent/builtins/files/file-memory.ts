/** What a conversation knows of a file: nothing, its present state, or an older one. */
export type Knowledge = 'unread' | 'current' | 'outdated';

/**
 * Which files a conversation has read, each by the digest of its bytes: a time stamp would miss a change within its
 * grain and mistake a mere touch for one.
 */
export class FileMemory {
  readonly #digests = new Map<string, string>();

  /** `path` is absolute, with links resolved. */
  remember(path: string, digest: string): void {
    this.#digests.set(path, digest);
  }

  /** `digest` is that of the file as it is now. */
  knows(path: string, digest: string): Knowledge {
    const remembered = this.#digests.get(path);
    if (remembered === undefined) return 'unread';
    return remembered === digest ? 'current' : 'outdated';
  }
}

/** Why a file must not be changed yet; undefined when the conversation knows it as it is. */
export function staleness(path: string, knowledge: Knowledge): string | undefined {
  switch (knowledge) {
    case 'unread':
      return `${path} has not been read in this conversation: use Read on it first`;
    case 'outdated':
      return `${path} has changed since it was read: use Read on it again, then decide`;
    case 'current':
      return undefined;
  }
}
