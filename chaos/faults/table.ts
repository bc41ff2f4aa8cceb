import type { Faults } from '../fault.ts';
import { call } from './call.ts';
import { httpAnswer } from './http-answer.ts';
import { httpConnect } from './http-connect.ts';
import { httpSession } from './http-session.ts';
import { life } from './life.ts';
import { list } from './list.ts';
import { processes } from './process.ts';
import { socket } from './socket.ts';
import { wire } from './wire.ts';

/** Every fault, in the order of the report. */
export const FAULTS: Faults = {
  ...life,
  ...processes,
  ...wire,
  ...list,
  ...call,
  ...httpConnect,
  ...httpAnswer,
  ...httpSession,
  ...socket,
};
