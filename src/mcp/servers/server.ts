import type { ListedTool } from '../../protocol/mcp.ts';
import type { Connection } from '../connection/connection.ts';
import type { ServerEntry } from '../connection/world.ts';
import type { Prompt } from '../discovery/prompt.ts';
import { isAsleep, type ServerState } from './state.ts';
import type { ServerStatus } from './status.ts';

/** Who named a server: the start of the session, the program at its beginning or later. */
export type ServerOrigin = 'config' | 'sdk' | 'dynamic';

/** One server as an agent meets it; one that waits is dialled when the agent asks for it. */
export type ServerView =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'pending' }
  | ({ readonly kind: 'connected'; readonly connection: Connection } & Offer)
  | { readonly kind: 'needs-auth'; readonly fault: string }
  | { readonly kind: 'failed'; readonly fault: string }
  | { readonly kind: 'disabled' };

/** What a server has for its users. */
export type Offer = { readonly tools: readonly ListedTool[]; readonly prompts: readonly Prompt[] };

/** A server with everything known about it. */
export type Server = {
  readonly entry: ServerEntry;
  readonly origin: ServerOrigin;
  readonly state: ServerView;
};

/** A server with its history, for those who show it to people. */
export type KnownServer = Server & {
  readonly status: ServerStatus;
  /** Whether the server itself has listed what it offers; until then it is what it listed in an earlier life, without annotations. */
  readonly isVerified: boolean;
};

/** A connection and an offer are there while it is connected. */
export function viewOf(
  state: ServerState,
  connection: Connection | undefined,
  offer: Offer | undefined,
): ServerView {
  switch (state.kind) {
    case 'pending':
    case 'connecting':
      return { kind: isAsleep(state) ? 'waiting' : 'pending' };
    case 'connected':
      return connection && offer ? { kind: 'connected', connection, ...offer } : { kind: 'pending' };
    case 'needs-auth':
    case 'failed':
      return { kind: state.kind, fault: state.cause.message };
    case 'disabled':
      return { kind: 'disabled' };
  }
}
