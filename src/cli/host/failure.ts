import { HostError, type HostErrorCode, ServerFault } from '../../mcp/errors/host-error.ts';

import { messageOf } from '../../protocol/sdk-error.ts';
import { NotUnderstood } from './not-understood.ts';

/** What was asked for cannot be done: exit code 1. The message is a line for people. */
export class Failed extends Error {
  override readonly name = 'Failed';
  readonly code: HostErrorCode | undefined;

  constructor(message: string, code?: HostErrorCode) {
    super(message);
    this.code = code;
  }
}

/** What a person is told, a line each. */
export function sayFailure(cause: unknown): readonly string[] {
  if (cause instanceof NotUnderstood) return cause.lines;
  return [cause instanceof ServerFault ? `server ${cause.server}: ${cause.message}` : messageOf(cause)];
}

/** The same for programs: `code` is that of JSON-RPC if the server refused, a word of ours if it could not be used. */
export function errorDocument(cause: unknown): {
  readonly error: { readonly message: string; readonly code?: number | string };
} {
  const isCoded = cause instanceof ServerFault || cause instanceof HostError || cause instanceof Failed;
  const code = isCoded ? cause.code : undefined;
  return { error: { message: sayFailure(cause).join('\n'), ...(code !== undefined && { code }) } };
}
