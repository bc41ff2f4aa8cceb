import type { Progress } from '@modelcontextprotocol/client';

/** How one call is made. */
export type CallOptions = {
  signal?: AbortSignal;
  /** The longest it may take in all; without it a call may take as long as it likes. */
  timeoutMs?: number;
  /** The longest it may stay silent; progress begins the time anew. */
  idleTimeoutMs?: number;
  onProgress?: (progress: Progress) => void;
  /** Goes with the request as `_meta`. */
  meta?: Record<string, unknown>;
};
