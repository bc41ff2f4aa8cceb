import type { CallContext } from './context.ts';

export type CallOutcome = 'ok' | 'error' | 'cancelled';

/** Watches tool calls, for tracing. It is told names and outcomes; arguments only if it reads them itself. */
export type CallObserver = {
  start(call: { server: string; tool: string; ctx: CallContext }): ObservedCall;
};

export type ObservedCall = {
  /** Runs the handler inside the call's own span. */
  run<T>(work: () => T): T;
  end(outcome: CallOutcome): void;
};
