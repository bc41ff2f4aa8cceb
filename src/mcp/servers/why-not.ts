import type { HostErrorCode } from '../connection/host-error.ts';
import { isStormy } from './retry.ts';
import { isAsleep, type ServerState } from './state.ts';

type Failed = Extract<ServerState, { kind: 'failed' }>;

/** `retryAfterMs` is there if the server itself asked to be left alone for so long. */
export type WhyNot = {
  readonly code: HostErrorCode;
  readonly fault: string;
  readonly retryAfterMs?: number;
};

/** Why a server is not connected, in words that say what to do; undefined for one that is. */
export function whyNot(key: string, state: ServerState, now: number): WhyNot | undefined {
  switch (state.kind) {
    case 'connected':
      return undefined;
    case 'disabled':
      return { code: 'disabled', fault: 'it is turned off; turn it on to use it' };
    case 'needs-auth':
      return { code: 'unauthorized', fault: `${faultOf(state, key)}; reconnect it once that is mended` };
    case 'failed': {
      const storm = isStormy(state.past) ? 'it keeps coming and going; the last time: ' : '';
      return {
        code: state.cause.code,
        fault: `${storm}${faultOf(state, key)}; ${nextDial(state, now)}`,
        ...askedFor(state, now),
      };
    }
    case 'pending':
    case 'connecting': {
      const fault = isAsleep(state) ? 'it waits to be asked for' : 'it is still being dialled';
      return { code: 'timeout', fault: state.cause ? `${fault}; before: ${faultOf(state, key)}` : fault };
    }
  }
}

/** Calls wait for a pause that the server asked for, not for a longer one of the backoff. */
function askedFor({ since, cause, nextRetryAt }: Failed, now: number): Pick<WhyNot, 'retryAfterMs'> {
  if (cause.retryAfterMs === undefined || nextRetryAt === undefined) return {};
  if (nextRetryAt > since + cause.retryAfterMs) return {};
  return { retryAfterMs: Math.max(0, nextRetryAt - now) };
}

function nextDial({ nextRetryAt, cause }: Failed, now: number): string {
  if (cause.code === 'bad-config') return 'change its entry, or reconnect it once that is mended';
  if (nextRetryAt === undefined) return 'reconnect it to try again';
  return `retrying in ${Math.max(1, Math.ceil((nextRetryAt - now) / 1000))} s`;
}

/** Messages begin with the name of the server; whoever names it already needs the rest. */
function faultOf({ cause }: ServerState, key: string): string {
  const prefix = `MCP server "${key}": `;
  const message = cause?.message ?? '';
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}
