import type { Faults } from '../fault.ts';
import { call } from './call.ts';
import { hostile } from './hostile.ts';
import { httpAfterRun } from './http-after-run.ts';
import { httpAnswer } from './http-answer.ts';
import { httpConnect } from './http-connect.ts';
import { httpMessage } from './http-message.ts';
import { httpSession } from './http-session.ts';
import { life } from './life.ts';
import { list } from './list.ts';
import { processes } from './process.ts';
import { relist } from './relist.ts';
import { silence } from './silence.ts';
import { socket } from './socket.ts';
import { storm } from './storm.ts';
import { wire } from './wire.ts';

/** Every fault, in the order of the report. */
export const FAULTS: Faults = {
  ...life,
  ...processes,
  ...wire,
  ...hostile,
  ...list,
  ...relist,
  ...call,
  ...httpConnect,
  ...httpAnswer,
  ...httpAfterRun,
  ...httpMessage,
  ...httpSession,
  ...silence,
  ...socket,
  ...storm,
};
