import { createContext, Script } from 'node:vm';

/** Does work that may take for ever, and throws when the time is up; it cannot be asked to stop otherwise. */
export function inTime<T>(limitMs: number, work: () => T): T {
  return RUN.runInContext(createContext({ work }), { timeout: limitMs }) as T;
}

const RUN = new Script('work()');
